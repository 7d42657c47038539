"""A job and its predictions are counted at one moment, however the sending of the predictions is spread."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
import zmq

from edged.clock import NANOSECONDS, now_ns
from edged.config import Journal as JournalSettings
from edged.hub.frames.router import Router
from edged.hub.journal.journal import Journal
from edged.hub.publish.publisher import AnsweredJob, Outlet, Publisher
from edged.hub.publish.sender import Outcome
from edged.hub.stats.counters import JobFigures
from edged.hub.stats.summary import Tally
from edged.messages import Score, Scores
from edged.metrics import Metrics
from edged.tracing import Notebook
from tests.eventually import eventually, free_port
from tests.hub.frames import HELLO, CameraEnd, hello_of
from tests.hub.services import new_services


class OutcomesOneByOne(Publisher):
    """Whose thread settles its predictions one at a time, as when others want the processor."""

    def outcomes(self) -> list[Outcome]:
        """`most` at once."""
        self.known.extend(super().outcomes())
        return [self.known.popleft() for _ in range(min(self.most, len(self.known)))]

    known: deque[Outcome]
    most = 1


@dataclass
class Hub:
    """As much of it as answers and publishes."""

    router: Router
    publisher: OutcomesOneByOne
    outlet: Outlet
    jobs: JobFigures
    metrics: Metrics
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
        count = partial(self.jobs.answered, HELLO.worker, len(fresh), scores, 0.1)
        job = AnsweredJob(scores, HELLO, now, (), count)
        for place, each in enumerate(held):
            self.outlet.publish(each, place, job)
        self.outlet.flush()

    def moment(self) -> tuple[float, float, float, float]:
        """Frames of jobs, and predictions, dropped and pending frames by the ledger and the metrics."""
        self.outlet.count()
        self.jobs.count()
        value = self.metrics.registry.get_sample_value
        ledger = self.router.cameras["door"].ledger
        jobs = value("edged_jobs_total", {"worker": HELLO.worker, "frames": "3"}) or 0.0
        predictions = value("edged_predictions_total", {"camera": "door", "model": "digits"}) or 0.0
        assert predictions == ledger.predicted
        return 3 * jobs, predictions, sum(ledger.dropped.values()), ledger.pending


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    metrics, services = Metrics("test"), new_services()
    router = Router(["door"], keep=9, max_age_ns=60 * NANOSECONDS, deadline_ns=NANOSECONDS)
    router.camera_started(hello_of("door"))
    journal = Journal(tmp_path / "journal.sqlite", JournalSettings(), services)
    with zmq.Context() as context:
        publisher = OutcomesOneByOne(
            context, "test", f"tcp://127.0.0.1:{free_port()}", "", services, metrics.stream_unsent
        )
        publisher.known = deque()
        outlet = Outlet("test", publisher, journal, metrics, Tally(["door"]), 20, Notebook(), router)
        yield Hub(router, publisher, outlet, JobFigures(metrics), metrics)
        publisher.stop(20.0)
        journal.close()
        services.close()


def moments(hub: Hub) -> list[tuple[float, float, float, float]]:
    """What scrapes show until all is settled, each moment once, and each next to the one before."""
    seen = [hub.moment()]

    def is_settled() -> bool:
        hub.outlet.settle()
        if (moment := hub.moment()) != seen[-1]:
            seen.append(moment)
        return not hub.outlet.unsettled

    eventually(is_settled)
    return seen


def test_a_job_counts_with_all_its_predictions_and_its_frames_are_pending_until_then(hub: Hub) -> None:
    hub.answer(True, True, True)
    hub.answer(True, True, True)
    assert hub.outlet.unsettled == 6
    assert moments(hub) == [(0, 0, 0, 6), (3, 3, 0, 3), (6, 6, 0, 0)]


def test_a_prediction_that_was_dropped_at_the_send_counts_with_the_others_of_its_job(hub: Hub) -> None:
    hub.answer(True, False, True)
    assert moments(hub) == [(0, 0, 0, 3), (3, 2, 1, 0)]


def test_what_is_settled_at_the_end_of_the_hub_is_counted(hub: Hub) -> None:
    hub.answer(True, True, True)
    hub.publisher.most = 3
    hub.outlet.close()
    jobs, predictions, dropped, pending = hub.moment()
    assert (jobs, predictions + dropped, pending) == (3, 3, 0)
