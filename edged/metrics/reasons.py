"""The values of the label `reason`, and what each means."""

DROPPED = {  # of edged_frames_dropped_total and of the summary of `edged run`
    "max_fps": "camera: above the rate that the config allows",
    "motion": "camera: less of the picture changed than the config asks for",
    "unreadable": "camera: a picture that cannot be decoded",
    "link_full": "camera: the hub did not take it at once",
    "superseded": "hub: a newer frame took its place while it waited",
    "stale": "hub: older than max_age_s, before the prediction or after it",
    "deadline": "hub: the worker held it longer than deadline_s, and it was too old to be tried again",
    "worker_lost": "hub: its worker (or the next segment's) ended, and so did a second one, or it was too old",
    "device_error": "hub: the device failed or was wrong, and so did a second attempt, or it was too old for that",
    "not_finite": "hub: the network's answer holds NaN or infinity",
    "not_sent": "hub: the thread that publishes was held up, and its queue was full",
    "link": "hub: counted by a camera that ended before the frame arrived",
    "shutdown": "hub: under way or waiting when the run ended",
}
LOST = {  # of edged_worker_restarts_total
    "deadline": "it held a job longer than deadline_s",
    "device_error": "its device failed, or gave another answer than at its start to the same picture: it is asked "
    "where an answer holds NaN or infinity, and once a minute",
    "out_of_memory": "it got no more memory from its device or the kernel (exit code 5)",
    "refused": "it is of another version, or has another model: the event `refused` says which",
    "start_timeout": "it was not ready within start_s",
    "stopped": "a signal (SIGSTOP) kept it from running for half a second",
    "stuck": "it was killed and does not end",
    "signal": "it crashed, or somebody killed it; the kernel does where memory is short",
    "exit": "it ended by itself; its message says why",
    "unreachable": "on another host: it has gone, or cannot be reached",
}
