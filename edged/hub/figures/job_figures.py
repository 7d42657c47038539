"""What jobs of so many frames take: whether a batch pays can be read off."""

from functools import cache

from edged.messages import Features, Scores
from edged.metrics import Metrics

TOGETHER = 32  # as predictions are (prediction_figures.py)

Answered = tuple[str, int, float, float]  # worker, frames, seconds of the job and of its device


class JobFigures:
    """Counts the jobs that are answered, some at a time."""

    def __init__(self, metrics: Metrics) -> None:
        self._new: list[Answered] = []
        # a label costs more to look up than to count
        self._seconds = cache(metrics.job_seconds.labels)
        self._jobs = cache(metrics.jobs.labels)
        self._device_seconds = cache(metrics.job_device_seconds.labels)

    def answered(self, worker: str, frames: int, answer: Scores | Features, seconds: float) -> None:
        """A job of `frames`, `seconds` after it was handed out. The metrics show it after the next `count`."""
        self._new.append((worker, frames, seconds, answer.upload_s + answer.forward_s + answer.download_s))
        if len(self._new) == TOGETHER:
            self.count()

    def count(self) -> None:
        """Bring the metrics up to date."""
        new, self._new = self._new, []
        for worker, frames, seconds, device_s in new:
            self._seconds(worker).observe(seconds)
            self._jobs(worker, frames).inc()
            self._device_seconds(worker, frames).inc(device_s)
