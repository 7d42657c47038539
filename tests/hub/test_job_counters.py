"""Whether a batch pays can be read off the metrics."""

import pytest

from edged.hub.stats.counters import JobFigures
from edged.messages import Scores
from edged.metrics import Metrics


def scores(forward_s: float) -> Scores:
    return Scores(job=1, frames=(), upload_s=0.001, forward_s=forward_s, download_s=0.001)


def test_a_frame_of_a_batch_is_seen_to_take_less_of_the_device_than_one_alone() -> None:
    metrics = Metrics("test")
    figures = JobFigures(metrics)

    for _ in range(3):
        figures.answered("big-0", 1, scores(0.018), seconds=0.03)
        figures.answered("big-0", 4, scores(0.038), seconds=0.05)
    figures.count()

    def seconds_a_frame(frames: int) -> float:
        labels = {"worker": "big-0", "frames": str(frames)}
        seconds = metrics.registry.get_sample_value("edged_job_device_seconds_total", labels)
        jobs = metrics.registry.get_sample_value("edged_jobs_total", labels)
        assert seconds is not None
        assert jobs == 3
        return seconds / (jobs * frames)

    assert seconds_a_frame(1) == pytest.approx(0.02)
    assert seconds_a_frame(4) == pytest.approx(0.01)
