"""Every metric by theme, from frames to the hub itself; and each value of the label `reason` with its meaning."""

from edged.metrics.declare import JOULES, SHARES, Declare

DROPPED = {  # of edged_frames_dropped_total and of the summary of `edged run`
    "max_fps": "camera: above the configured rate",
    "motion": "camera: less of the picture changed than `motion` requires",
    "unreadable": "camera: a picture that cannot be decoded",
    "link_full": "camera: the hub did not accept it at once",
    "late": "camera that serves requests: its answer was due while it waited for a worker",
    "superseded": "hub, or camera: a newer frame replaced it while it waited, or no worker would have taken it",
    "stale": "hub: older than max_age_s, before or after the prediction",
    "deadline": "hub: the worker exceeded deadline_s, and the frame was too old for a retry",
    "worker_lost": "hub: its worker (or the next segment's) was lost, and so was a second one, or it was too old",
    "device_error": "hub: the device failed or was wrong, and so did a second attempt, or it was too old",
    "not_finite": "hub: the network's output holds NaN or infinity",
    "not_sent": "hub: the publishing thread was blocked, and its queue was full",
    "link": "hub: counted by a camera that ended before the frame arrived",
    "shutdown": "hub: in flight when the run ended",
}
REFUSED = {  # of edged_serve_refused_total
    "parts": "not the parts that the protocol has: half a message, one too many, or a form without a picture",
    "header": "a header that cannot be read, or that lies about the size of what follows",
    "size": "a picture that does not have the size that the model takes",
    "picture": "a file that is no picture, is damaged, or has more than 16 million pixels",
    "dtype": "numbers of another type than the protocol has for pictures",
    "values": "floats that are neither 0 to 1 nor 0 to 255, or not always the same of both; others out of range",
    "model": "another model than the one that runs, or one that is for something else",
    "upload": "a model that a client sent: edged takes none from clients",
    "path": "HTTP: a path or method that is not answered",
    "key": "HTTP: no key, or a wrong one",
    "guessing": "HTTP: too many wrong keys from this address",
    "too_large": "HTTP: a body above 16 MiB",
    "unfinished": "HTTP: a body that did not come whole within 10 s",
    "busy": "HTTP: requests that wait hold 64 MiB already",
    "malformed": "HTTP: bytes that are no request",
    "slow": "HTTP: a request whose headers did not come in time",
}
LOST = {  # of edged_worker_restarts_total
    "deadline": "a job exceeded deadline_s",
    "device_error": "its device failed, or its answer to a known picture has changed: checked once a minute, "
    "and after NaN or infinity",
    "out_of_memory": "its device or the kernel had no memory left (exit code 5)",
    "refused": "it has another version or model: the event `refused` names it",
    "start_timeout": "it was not ready within start_s",
    "stopped": "a signal (SIGSTOP) stopped it for half a second",
    "stuck": "it was killed and does not end",
    "signal": "it crashed, or was killed; the kernel does so when memory is short",
    "exit": "it ended by itself; its message says why",
    "unreachable": "on another host: it ended, or cannot be reached",
}


class FrameMetrics:
    """Frames: captured = predicted + pending + dropped."""

    def __init__(self, declare: Declare) -> None:
        self.frames = declare.quick_counter("edged_frames_total", "Frames captured by the camera.", ["camera"])
        self.dropped = declare.quick_counter(
            "edged_frames_dropped_total",
            "Frames dropped, by the camera or by the hub.",
            ["camera", "reason"],
        )
        self.pending = declare.quick_gauge(
            "edged_frames_pending",
            "Frames in flight, waiting or with a worker: captured less predicted less dropped.",
            ["camera"],
        )
        self.retried = declare.quick_counter(
            "edged_frames_retried_total",
            "Frames sent to a second worker after the first was lost.",
            ["camera"],
        )


class PredictionMetrics:
    """Predictions published, and the times of their frames."""

    def __init__(self, declare: Declare) -> None:
        self.predictions = declare.quick_counter(
            "edged_predictions_total", "Predictions published.", ["camera", "model"]
        )
        self.known_truth = declare.quick_counter(
            "edged_known_truth_total",
            "Predictions of frames whose correct label is known, by whether the top label is correct.",
            ["camera", "result"],
        )
        self.score = declare.quick_histogram(
            "edged_score", "Score of the top label of each prediction.", ["camera"], bounds=SHARES
        )
        self.labels = declare.quick_counter(
            "edged_labels_total",
            "Predictions by top label: the first metrics.labels labels by name, all others as other.",
            ["camera", "label"],
        )
        self.boxes = declare.quick_counter(
            "edged_boxes_total",
            "Boxes that a detector found, by label: the first metrics.labels labels by name, all others as other.",
            ["camera", "label"],
        )
        self.stage = declare.quick_histogram(
            "edged_stage_seconds",
            "Duration of each stage; total is from the end of the capture to the publication.",
            ["camera", "stage"],
        )
        self.frame_age = declare.quick_histogram(
            "edged_frame_age_seconds", "Age of a frame when it is sent to a worker.", ["camera"]
        )


class CameraMetrics:
    """Cameras: up, ended, frozen, reconnects and snapshots."""

    def __init__(self, declare: Declare) -> None:
        self.camera_frozen = declare.quick_gauge(
            "edged_camera_frozen",
            "1 while the camera delivers the same picture again and again, else 0.",
            ["camera"],
        )
        self.camera_up = declare.quick_gauge(
            "edged_camera_up", "1 while the camera delivers pictures, else 0.", ["camera"]
        )
        self.camera_ended = declare.quick_gauge(
            "edged_camera_ended",
            "1 when the camera's source, such as a video file, has no more frames, else 0.",
            ["camera"],
        )
        self.last_frame = declare.quick_gauge(
            "edged_last_frame_timestamp_seconds",
            "Time of the camera's last capture, in seconds since 1970.",
            ["camera"],
        )
        self.reconnects = declare.quick_counter(
            "edged_camera_reconnects_total",
            "Recoveries of the camera from a failure of its source or process.",
            ["camera"],
        )
        self.snapshots = declare.quick_counter(
            "edged_snapshots_total",
            "Snapshots received from the camera: published, or dropped as not_wanted, too_many, "
            "too_large or malformed.",
            ["camera", "result"],
        )
        self.serve_late = declare.quick_counter(
            "edged_serve_late_total",
            "Requests of other programs that were not answered within answer_s: they got nothing, or an error.",
            ["camera"],
        )
        self.serve_refused = declare.quick_counter(
            "edged_serve_refused_total", "Requests of other programs that were refused.", ["camera", "reason"]
        )


class EnergyMetrics:
    """Energy by rail and by prediction."""

    def __init__(self, declare: Declare) -> None:
        self.energy = declare.counter(
            "edged_energy_joules_total",
            "Energy supplied by a power rail of a host since a worker started there, idle time included.",
            ["node", "rail", "method"],
        )
        self.idle_watts = declare.gauge(
            "edged_idle_watts",
            "Power of a rail without load, measured before a worker starts if energy.idle_s is set.",
            ["node", "rail"],
        )
        self.inference_joules = declare.quick_histogram(
            "edged_inference_joules",
            "Energy of one prediction, on the rails attributed to its worker.",
            ["method"],
            JOULES,
        )


class HostMetrics:
    """Temperature and frequency of each machine. `node`: the hub's own, or the host of a worker."""

    def __init__(self, declare: Declare) -> None:
        self.temperature = declare.quick_gauge(
            "edged_temperature_celsius", "Temperature of a sensor of the machine.", ["node", "sensor"]
        )
        self.frequency = declare.quick_gauge(
            "edged_frequency_hertz",
            "Current frequency of a CPU policy or of a devfreq device (GPU).",
            ["node", "domain"],
        )
        self.frequency_limit = declare.quick_gauge(
            "edged_frequency_limit_hertz",
            "Highest frequency allowed now: below the maximum if heat or a setting limits it.",
            ["node", "domain"],
        )
        self.frequency_max = declare.quick_gauge(
            "edged_frequency_max_hertz", "Highest frequency of the hardware.", ["node", "domain"]
        )


class JournalMetrics:
    """The journal: its commits, its size and its disk."""

    def __init__(self, declare: Declare) -> None:
        self.journal_seconds = declare.histogram(
            "edged_journal_seconds",
            "Time to commit predictions to the journal before their publication; not part of any stage.",
        )
        self.journal_errors = declare.counter(
            "edged_journal_errors_total",
            "Predictions that were published before they were in the journal, or are not in it at all.",
            ["reason"],
        )
        self.journal_bytes = declare.gauge("edged_journal_bytes", "Size of the journal's files.")
        self.journal_aside = declare.gauge(
            "edged_journal_quarantined_bytes",
            "Size of damaged journals that were quarantined; edged never deletes them.",
        )
        self.journal_limit = declare.gauge(
            "edged_journal_limit_bytes", "Largest size of the journal: journal.max_megabytes."
        )
        self.journal_disk_free = declare.gauge(
            "edged_journal_disk_free_bytes", "Free space on the journal's disk; NaN while it is unknown."
        )


class HubMetrics:
    """The hub itself: its threads and endpoints."""

    def __init__(self, declare: Declare) -> None:
        self.stream_unsent = declare.counter(
            "edged_stream_unsent_total",
            "Messages dropped because the publishing thread was blocked and its queue was full.",
            ["message"],
        )
        self.notifications = declare.counter(
            "edged_notifications_total",
            "Notifications of `notify`, by fate: sent, refused by the receiver, or dropped, for newer ones or "
            "since a reload removed `notify`.",
            ["fate"],
        )
        self.notification_failures = declare.counter(
            "edged_notification_failures_total",
            "Attempts to send a notification that failed, and were or will be made again.",
        )
        self.service_up = declare.gauge(
            "edged_service_up", "1 while this thread of the hub works, 0 while it has failed.", ["service"]
        )
        self.service_failures = declare.counter(
            "edged_service_failures_total",
            "Failures of a thread of the hub; it is restarted after each.",
            ["service"],
        )
        self.config_info = declare.gauge(
            "edged_config_info", "1 for the config in use; sha256: of its values, defaults included.", ["sha256"]
        )
        self.config_successful = declare.gauge(
            "edged_config_last_reload_successful",
            "1 if the last reload of the config was applied, 0 if it was rejected.",
        )
        self.config_timestamp = declare.gauge(
            "edged_config_last_reload_success_timestamp_seconds",
            "Time at which the config in use was read, in seconds since 1970.",
        )
        self.peers_rejected = declare.counter(
            "edged_peers_rejected_total",
            "Connections rejected or closed by the hub, by config key of the address; link: cameras and workers.",
            ["endpoint", "reason"],
        )
        self.insecure = declare.gauge(
            "edged_insecure",
            "1 if other hosts can reach this address without a key, else 0.",
            ["endpoint"],
        )


class WorkerMetrics:
    """Workers: up, serving, switches and restarts."""

    def __init__(self, declare: Declare) -> None:
        self.worker_up = declare.gauge(
            "edged_worker_up", "1 while the worker is ready, else 0.", ["worker", "device"]
        )
        self.worker_serving = declare.gauge(
            "edged_worker_serving", "1 while the worker gets jobs; 0 while another group serves.", ["worker"]
        )
        self.model_info = declare.gauge(
            "edged_model_info",
            "1 for the model that answers; base is the config's model, from which a taught one (another "
            "sha256) is derived.",
            ["model", "sha256", "base"],
        )
        self.fallback = declare.gauge(
            "edged_fallback", "1 while a group other than the first serves, or is about to, else 0."
        )
        self.switches = declare.counter(
            "edged_switches_total",
            "Switches to another group of workers; worker: the first of the new group.",
            ["worker"],
        )
        self.worker_restarts = declare.counter(
            "edged_worker_restarts_total",
            "Losses of a worker, each followed by a restart or a replacement, by reason.",
            ["worker", "reason"],
        )


class JobMetrics:
    """Jobs of the workers: how many, and their times."""

    def __init__(self, declare: Declare) -> None:
        self.jobs = declare.quick_counter(
            "edged_jobs_total",
            "Jobs completed by the worker, by number of frames.",
            ["worker", "frames"],
        )
        self.job_device_seconds = declare.quick_counter(
            "edged_job_device_seconds_total",
            "Device time of completed jobs (upload, forward pass and download), by number of frames.",
            ["worker", "frames"],
        )
        self.job_seconds = declare.quick_histogram(
            "edged_job_seconds", "Time from sending a job to a worker until its answer.", ["worker"]
        )
        self.decode_seconds = declare.quick_histogram(
            "edged_decode_seconds", "Time of a worker to decode the boxes of a detector's job.", ["worker"]
        )
        self.one_launch_jobs = declare.counter(
            "edged_one_launch_jobs_total", "Jobs whose kernels were one launch, on a CPU.", ["worker"]
        )
        self.waits_given_up = declare.counter(
            "edged_one_launch_waits_given_up_total",
            "Waits of a work-group for another in one launch that were given up: others took a processor.",
            ["worker"],
        )
        self.layer_seconds = declare.summary(
            "edged_layer_seconds",
            "Device time of a layer, recorded while edged profile --attach runs.",
            ["layer", "variant"],
        )
        self.frames_between = declare.gauge(
            "edged_frames_between_segments",
            "Frames that wait between two segments of a network for a worker of the next one.",
        )
