"""A job and its predictions are counted at one moment, however the sending of the predictions is spread."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from edged.clock import NANOSECONDS, now_ns
from edged.config import CameraConfig
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.router import Router
from edged.hub.pipeline import Publication
from edged.hub.publish.sender import AnsweredJob, Outcome, StreamSender
from edged.hub.stats.counters import Stats
from edged.messages import Score, Scores
from edged.metrics import Metrics
from tests.eventually import eventually
from tests.hub.frames import HELLO, CameraEnd, hello_of
from tests.hub.pipeline import running_pipeline


class OutcomesOneByOne:
    """Settles predictions `most` at a time, as when others want the processor of the thread that sends."""

    def __init__(self) -> None:
        self.most = 1
        self._known: deque[Outcome] = deque()
        self._all_of = StreamSender.outcomes

    def of(self, sender: StreamSender) -> list[Outcome]:
        self._known.extend(self._all_of(sender))
        return [self._known.popleft() for _ in range(min(self.most, len(self._known)))]


@dataclass
class Hub:
    """As much of it as answers and publishes."""

    router: Router
    publication: Publication
    stats: Stats
    metrics: Metrics
    outcomes: OutcomesOneByOne
    camera: CameraEnd = field(default_factory=lambda: CameraEnd("door"))

    def answer(self, *fresh: bool) -> None:
        """A job of so many frames is answered; those that are not fresh are too old when they are to be sent."""
        now, old = now_ns(), now_ns() - 100 * NANOSECONDS
        held = [self.camera.frame(now if each else old) for each in fresh]
        for each in held:
            self.router.frame_arrived(each, now)
        label = Score(index=0, score=1.0)
        scores = Scores(
            job=1, frames=((label,),) * len(fresh), upload_s=0.0, forward_s=0.0, download_s=0.0, joules=1.0
        )
        assigned = Assigned(1, HELLO.worker, tuple(held), 1, 1, now, "", None)
        job = AnsweredJob(assigned, scores, HELLO, (), now, 0.1)
        for place, each in enumerate(held):
            self.publication.add(each, place, job, self.router.stale_ns(each))

    def moment(self) -> tuple[float, float, float, float]:
        """Frames of jobs, and predictions, dropped and pending frames by the ledger and the metrics."""
        self.stats.update_metrics(self.router.ledgers)
        value = self.metrics.registry.get_sample_value
        ledger = self.router.cameras["door"].ledger
        jobs = value("edged_jobs_total", {"worker": HELLO.worker, "frames": "3"}) or 0.0
        predictions = value("edged_predictions_total", {"camera": "door", "model": "digits"}) or 0.0
        assert predictions == ledger.predicted
        return 3 * jobs, predictions, sum(ledger.dropped.values()), ledger.pending


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    outcomes = OutcomesOneByOne()

    def some_outcomes(sender: StreamSender) -> list[Outcome]:
        return outcomes.of(sender)

    monkeypatch.setattr(StreamSender, "outcomes", some_outcomes)
    with running_pipeline(
        tmp_path, {"door": CameraConfig(source=0)}, keep=9, max_age_ns=60 * NANOSECONDS
    ) as parts:
        parts.node.router.camera_started(hello_of("door"))
        yield Hub(parts.node.router, parts.publication, parts.node.stats, parts.metrics, outcomes)


def moments(hub: Hub) -> list[tuple[float, float, float, float]]:
    """What scrapes show until all is settled, each moment once, and each next to the one before."""
    seen = [hub.moment()]

    def is_settled() -> bool:
        hub.publication.settle()
        if (moment := hub.moment()) != seen[-1]:
            seen.append(moment)
        return not hub.publication.unsettled

    eventually(is_settled)
    return seen


def test_under_load_predictions_of_some_milliseconds_share_a_commit(hub: Hub) -> None:
    assert hub.publication.commit_due_ns is None
    hub.answer(True)
    due_ns = hub.publication.commit_due_ns
    assert due_ns is not None
    hub.answer(True)
    assert hub.publication.commit_due_ns == due_ns
    assert [hub.publication.is_commit_due(at) for at in (due_ns - 1, due_ns)] == [False, True]
    hub.publication.flush()
    assert hub.publication.commit_due_ns is None
    assert not hub.publication.is_commit_due(due_ns)


def test_a_job_counts_with_all_its_predictions_and_its_frames_are_pending_until_then(hub: Hub) -> None:
    hub.answer(True, True, True)
    hub.answer(True, True, True)
    hub.publication.flush()
    assert hub.publication.unsettled == 6
    assert moments(hub) == [(0, 0, 0, 6), (3, 3, 0, 3), (6, 6, 0, 0)]


def test_a_prediction_that_was_dropped_at_the_send_counts_with_the_others_of_its_job(hub: Hub) -> None:
    hub.answer(True, False, True)
    hub.publication.flush()
    assert moments(hub) == [(0, 0, 0, 3), (3, 2, 1, 0)]


def test_what_is_settled_at_the_end_of_the_hub_is_counted(hub: Hub) -> None:
    hub.answer(True, True, True)
    hub.publication.flush()
    hub.outcomes.most = 3
    hub.publication.close()
    jobs, predictions, dropped, pending = hub.moment()
    assert (jobs, predictions + dropped, pending) == (3, 3, 0)
