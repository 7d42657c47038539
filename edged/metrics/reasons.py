"""The values of the label `reason`, and what each means."""

DROPPED = {  # of edged_frames_dropped_total and of the summary of `edged run`
    "max_fps": "camera: above the configured rate",
    "motion": "camera: less of the picture changed than `motion` requires",
    "unreadable": "camera: a picture that cannot be decoded",
    "link_full": "camera: the hub did not accept it at once",
    "superseded": "hub: a newer frame replaced it while it waited",
    "stale": "hub: older than max_age_s, before or after the prediction",
    "deadline": "hub: the worker exceeded deadline_s, and the frame was too old for a retry",
    "worker_lost": "hub: its worker (or the next segment's) was lost, and so was a second one, or it was too old",
    "device_error": "hub: the device failed or was wrong, and so did a second attempt, or it was too old",
    "not_finite": "hub: the network's output holds NaN or infinity",
    "not_sent": "hub: the publishing thread was blocked, and its queue was full",
    "link": "hub: counted by a camera that ended before the frame arrived",
    "shutdown": "hub: in flight when the run ended",
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
