"""Metrics of workers and their jobs."""

from edged.metrics.declare import Declare


class WorkerMetrics:
    """Who answers, how fast, and what became of those that do not."""

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
            "edged_frames_between", "Frames that wait between two segments of a network for the next one's worker."
        )
        self.worker_restarts = declare.counter(
            "edged_worker_restarts_total",
            "How often a worker was lost and started again or replaced, and why.",
            ["worker", "reason"],
        )
