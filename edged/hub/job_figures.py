"""What jobs of so many frames take: whether a batch pays can be read off."""

from functools import cache

from edged.messages import Features, Scores
from edged.metrics import Metrics


class JobFigures:
    """Counts the jobs that are answered."""

    def __init__(self, metrics: Metrics) -> None:
        # a label costs more to look up than to count
        self._seconds = cache(metrics.job_seconds.labels)
        self._jobs = cache(metrics.jobs.labels)
        self._device_seconds = cache(metrics.job_device_seconds.labels)

    def answered(self, worker: str, frames: int, answer: Scores | Features, seconds: float) -> None:
        """A job of `frames`, `seconds` after it was handed out."""
        self._seconds(worker).observe(seconds)
        self._jobs(worker, frames).inc()
        self._device_seconds(worker, frames).inc(answer.upload_s + answer.forward_s + answer.download_s)
