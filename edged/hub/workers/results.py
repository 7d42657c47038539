"""What becomes of what workers answer: predictions, features for the next segment, or frames that are lost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import zmq

from edged.clock import NANOSECONDS, now_ns
from edged.hub.events import HubEvent
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.queues import StageResult
from edged.hub.frames.router import Router
from edged.hub.publish.publisher import AnsweredJob, Outlet
from edged.hub.stats.counters import JobFigures
from edged.hub.stats.hosts import HostEnergy
from edged.hub.workers.admission import are_features, are_scores
from edged.hub.workers.heads import Heads
from edged.messages import EnergySoFar, Features, IdleEnergy, JobFailed, Scores, WorkerHello
from edged.metrics import Metrics


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A job that was answered, by whom, with its payloads."""

    assigned: Assigned
    scores: Scores
    hello: WorkerHello
    payloads: Sequence[zmq.Frame]


class Answers:
    """Takes every job back.

    `may_publish` is asked before each prediction; where it says no, the frame is dropped as `shutdown`.
    """

    def __init__(
        self,
        router: Router,
        outlet: Outlet,
        metrics: Metrics,
        heads: Heads,
        *,
        node: str,
        may_publish: Callable[[], bool],
    ) -> None:
        self.on_scores: Callable[[Scored], None] | None = None  # is told of each job that bears more than scores
        self._router = router
        self._heads = heads
        self._outlet = outlet
        self._energy = HostEnergy(metrics.energy, node)
        self._idle_watts = metrics.idle_watts
        self._node = node
        self._may_publish = may_publish
        self._told: set[tuple[str, str]] = set()
        self._figures = JobFigures(metrics)

    @property
    def energy(self) -> EnergySoFar:
        """What the rails of all hosts have supplied."""
        return self._energy.so_far

    def greeted(self, hello: WorkerHello) -> None:
        """A worker has come."""
        self._energy.begins(hello.worker, hello.host, hello.attributed_rails)
        for rail, watts in hello.idle_watts.items():
            self._idle_watts.labels(hello.host or self._node, rail).set(watts)

    def left(self, name: str) -> None:
        """A worker has gone."""
        self._told = {told for told in self._told if told[0] != name}

    def take(
        self, hello: WorkerHello, answer: Scores | Features | JobFailed, payloads: Sequence[zmq.Frame]
    ) -> list[HubEvent]:
        """The answer of a worker; nothing comes of one whose job was given up."""
        answered_ns = now_ns()
        answer = answer if isinstance(answer, JobFailed) else self._energy.answered(hello, answer)
        assigned = self._router.answered(answer.job, hello.worker, answered_ns)
        if assigned is None:
            return []
        if isinstance(answer, JobFailed):
            message = f"worker {hello.worker} could not do a job: {answer.error}"
            return self._unanswered(assigned, answer.reason, message)
        took_s = (answered_ns - assigned.since_ns) / NANOSECONDS
        count_job = partial(self._figures.answered, hello.worker, len(assigned.frames), answer, took_s)
        hello = self._heads.hello_by(hello, assigned.head)
        if isinstance(answer, Scores) and are_scores(answer, assigned, hello):
            self._publish(assigned, AnsweredJob(answer, hello, answered_ns, assigned.legs, count_job))
            if self.on_scores and (assigned.features or assigned.shadow):
                self.on_scores(Scored(assigned, answer, hello, payloads))
            return []
        count_job()
        if isinstance(answer, Features) and are_features(payloads, assigned, hello):
            self._router.passed_on(assigned, payloads[0], StageResult(hello, answer))
            return []
        message = f"worker {hello.worker} answered a job with what is no answer to it"
        return self._unanswered(assigned, "device_error", message)

    def count(self) -> None:
        """Bring the metrics of jobs up to date."""
        self._figures.count()

    def take_idle(self, hello: WorkerHello, told: IdleEnergy) -> None:
        """A worker without jobs tells of its host's rails."""
        self._energy.told(hello.worker, told.rails, hello.energy)

    def _publish(self, assigned: Assigned, job: AnsweredJob) -> None:
        for place, held in enumerate(assigned.frames):
            if self._router.is_stale(held, now_ns()):
                self._router.dropped(held, "stale")
            elif not self._may_publish():
                self._router.dropped(held, "shutdown")
            else:
                self._outlet.publish(held, place, job)
        if not job.unsettled:
            job.count()  # none of its frames is published

    def _unanswered(self, assigned: Assigned, reason: str, message: str) -> list[HubEvent]:
        """The frames may fare better on a device that works, but a network's answer stays what it is.

        Told once for each reason and start of a worker: it may be each frame.
        """
        for held in assigned.frames:
            if reason == "device_error":
                self._router.lost(held, reason, now_ns())
            else:
                self._router.dropped(held, reason)
        if (assigned.worker, reason) in self._told:
            return []
        self._told.add((assigned.worker, reason))
        return [HubEvent("job_failed", message, worker=assigned.worker, reason=reason)]
