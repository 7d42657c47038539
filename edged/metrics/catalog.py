"""Every metric: frames and predictions, cameras, workers and jobs, energy, hosts, and the hub itself."""

from edged.metrics.declare import JOULES, SHARES, Declare


class FrameMetrics:
    """Frames and predictions: captured = predicted + pending + dropped, and the time of each stage."""

    def __init__(self, declare: Declare) -> None:
        self.frames = declare.quick_counter("edged_frames_total", "Frames that the camera captured.", ["camera"])
        self.dropped = declare.quick_counter(
            "edged_frames_dropped_total",
            "Frames that were let go, by the camera or by the hub.",
            ["camera", "reason"],
        )
        self.pending = declare.quick_gauge(
            "edged_frames_pending",
            "Frames that wait or are with a worker: captured less predicted less dropped.",
            ["camera"],
        )
        self.retried = declare.quick_counter(
            "edged_frames_retried_total",
            "Frames given to a worker again after the one before was lost.",
            ["camera"],
        )
        self.predictions = declare.quick_counter(
            "edged_predictions_total", "Predictions published.", ["camera", "model"]
        )
        self.known_truth = declare.quick_counter(
            "edged_known_truth_total",
            "Predictions of frames whose right label is known, by whether the best label was right.",
            ["camera", "result"],
        )
        self.score = declare.quick_histogram(
            "edged_score", "Score of the best label of each prediction.", ["camera"], bounds=SHARES
        )
        self.labels = declare.quick_counter(
            "edged_labels_total",
            "Predictions by their best label: the first metrics.labels that come up by name, the rest as other.",
            ["camera", "label"],
        )
        self.stage = declare.quick_histogram(
            "edged_stage_seconds",
            "Time that each stage took; total is from the end of the capture to the publication.",
            ["camera", "stage"],
        )
        self.frame_age = declare.quick_histogram(
            "edged_frame_age_seconds", "Age of a frame when a worker takes it.", ["camera"]
        )


class CameraMetrics:
    """Cameras: up, frozen, reconnects and snapshots."""

    def __init__(self, declare: Declare) -> None:
        self.camera_frozen = declare.quick_gauge(
            "edged_camera_frozen", "1 while the camera gives the same picture again and again.", ["camera"]
        )
        self.camera_up = declare.quick_gauge(
            "edged_camera_up", "1 while the camera gives frames, else 0.", ["camera"]
        )
        self.last_frame = declare.quick_gauge(
            "edged_last_frame_timestamp_seconds",
            "When the newest frame of the camera was captured, in seconds since 1970.",
            ["camera"],
        )
        self.reconnects = declare.quick_counter(
            "edged_camera_reconnects_total",
            "How often the camera came back after a failure of its source or of its process.",
            ["camera"],
        )
        self.snapshots = declare.quick_counter(
            "edged_snapshots_total",
            "Small pictures of frames that the camera sent: published; or not, as they were not_wanted, too_many, "
            "too_large or malformed.",
            ["camera", "result"],
        )


class EnergyMetrics:
    """Energy by rail and by prediction."""

    def __init__(self, declare: Declare) -> None:
        self.energy = declare.counter(
            "edged_energy_joules_total",
            "Energy that a power rail of a host has supplied while a worker ran there, idle time included.",
            ["node", "rail", "method"],
        )
        self.idle_watts = declare.gauge(
            "edged_idle_watts",
            "What a power rail of a host drew before its worker began, where energy.idle_s asks for that.",
            ["node", "rail"],
        )
        self.inference_joules = declare.quick_histogram(
            "edged_inference_joules",
            "Energy of one prediction, on the rails that its device uses.",
            ["method"],
            JOULES,
        )


class HostMetrics:
    """Temperature and frequency of each machine. `node`: the hub's own, or the host of a worker."""

    def __init__(self, declare: Declare) -> None:
        self.temperature = declare.quick_gauge(
            "edged_temperature_celsius", "What a sensor of the machine shows.", ["node", "sensor"]
        )
        self.frequency = declare.quick_gauge(
            "edged_frequency_hertz",
            "At which the processors of a cpufreq policy, or a device of devfreq (a GPU), run now.",
            ["node", "domain"],
        )
        self.frequency_limit = declare.quick_gauge(
            "edged_frequency_limit_hertz",
            "The highest that is allowed now: below the maximum where heat, or somebody, holds it down.",
            ["node", "domain"],
        )
        self.frequency_max = declare.quick_gauge(
            "edged_frequency_max_hertz", "The highest that the hardware has.", ["node", "domain"]
        )


class HubMetrics:
    """The hub itself: its journal, threads and endpoints."""

    def __init__(self, declare: Declare) -> None:
        self.journal_seconds = declare.histogram(
            "edged_journal_seconds",
            "Time until predictions are committed to the journal, before they are published; no stage holds it.",
        )
        self.journal_errors = declare.counter(
            "edged_journal_errors_total",
            "Predictions that were published before they were kept for subscribers that miss them, or without.",
            ["reason"],
        )
        self.journal_bytes = declare.gauge(
            "edged_journal_bytes", "What the files of the journal take on the disk."
        )
        self.journal_aside = declare.gauge(
            "edged_journal_quarantined_bytes",
            "What damaged journals take that were set aside; edged deletes none of them.",
        )
        self.journal_limit = declare.gauge(
            "edged_journal_limit_bytes", "What they may take: journal.max_megabytes."
        )
        self.journal_disk_free = declare.gauge(
            "edged_journal_disk_free_bytes", "What is free on the disk of the journal; NaN while nobody can say."
        )
        self.stream_unsent = declare.counter(
            "edged_stream_unsent_total",
            "Messages that were dropped because the thread that publishes was held up and its queue was full.",
            ["message"],
        )
        self.service_up = declare.gauge(
            "edged_service_up", "1 while this thread of the hub serves, 0 while it has failed.", ["service"]
        )
        self.service_failures = declare.counter(
            "edged_service_failures_total",
            "Failures of a thread of the hub, which is started again after each.",
            ["service"],
        )
        self.peers_rejected = declare.counter(
            "edged_peers_rejected_total",
            "Connections that were refused or cut off, by the key of the config that holds the address; "
            "link: cameras' and workers'.",
            ["endpoint", "reason"],
        )
        self.insecure = declare.gauge(
            "edged_insecure",
            "1 where other hosts reach this address without a key, else 0.",
            ["endpoint"],
        )


class WorkerMetrics:
    """Workers: up, serving, jobs, times and restarts."""

    def __init__(self, declare: Declare) -> None:
        self.worker_up = declare.gauge(
            "edged_worker_up", "1 while the worker takes jobs, else 0.", ["worker", "device"]
        )
        self.worker_serving = declare.gauge(
            "edged_worker_serving", "1 while the worker gets jobs; 0 while another group serves.", ["worker"]
        )
        self.model_info = declare.gauge(
            "edged_model_info",
            "1 for the model that answers; base is the config's, which another sha256 was taught on top of.",
            ["model", "sha256", "base"],
        )
        self.fallback = declare.gauge(
            "edged_fallback", "1 while another group of workers than the first serves, or is to, else 0."
        )
        self.switches = declare.counter(
            "edged_switches_total",
            "How often another group of workers began to serve; worker: the first of that group.",
            ["worker"],
        )
        self.jobs = declare.quick_counter(
            "edged_jobs_total",
            "Jobs that the worker has answered, by how many frames they carried.",
            ["worker", "frames"],
        )
        self.job_device_seconds = declare.quick_counter(
            "edged_job_device_seconds_total",
            "What they took of the device: upload, forward pass and download.",
            ["worker", "frames"],
        )
        self.job_seconds = declare.quick_histogram(
            "edged_job_seconds", "Time from handing a job to a worker until its answer.", ["worker"]
        )
        self.layer_seconds = declare.summary(
            "edged_layer_seconds",
            "What a layer took on the device, where and while somebody has them timed (edged profile --attach).",
            ["layer", "variant"],
        )
        self.frames_between = declare.gauge(
            "edged_frames_between_segments",
            "Frames that wait between two segments of a network for the next one's worker.",
        )
        self.worker_restarts = declare.counter(
            "edged_worker_restarts_total",
            "How often a worker was lost and started again or replaced, and why.",
            ["worker", "reason"],
        )
