"""Publish predictions in order, after the journal has them, and events and the status."""

import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import zmq
from prometheus_client import Counter

from edged.clock import NANOSECONDS, now_ns, seconds_since, wall_s
from edged.hub.events import HubEvent
from edged.hub.frames.prediction import Origin, predict
from edged.hub.frames.queues import Held, StageResults
from edged.hub.frames.router import Router
from edged.hub.journal.journal import Journal
from edged.hub.journal.schema import Reason, Row
from edged.hub.links.guard import Guard
from edged.hub.links.sockets import SUBSCRIBER, Part, bind
from edged.hub.publish.sender import Outcome, Outgoing, StreamSender, What
from edged.hub.service_threads import ServiceThreads
from edged.hub.stats.counters import PredictionFigures
from edged.hub.stats.summary import Tally
from edged.messages import (
    Event,
    Label,
    Scores,
    ShadowAnswers,
    ShadowResult,
    Snapshot,
    SnapshotHeader,
    Status,
    WorkerHello,
    snapshot_topic,
    to_json,
    topic,
)
from edged.messages.status import NodeStatus
from edged.metrics import Metrics
from edged.tracing import Notebook, note_prediction

QUEUED = 100  # messages for a subscriber that stalls; what is over is dropped, and can be fetched again


class Publisher:
    """Hands over to the thread that sends, and never waits."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        node: str,
        address: str,
        replay: str,
        services: ServiceThreads,
        unsent: Counter,
        guard: Guard | None = None,
    ) -> None:
        """`unsent` counts messages that are dropped, by `what`. Raises ConfigError for an unusable address."""
        self.boot = uuid.uuid4().hex
        self._node = node
        self._replay = replay
        self._unsent = unsent
        socket = bind(context, zmq.PUB, "publish.address", address, QUEUED, guard, bounds=SUBSCRIBER)
        self._sender = StreamSender(socket, services)

    def topic_of(self, camera: str) -> bytes:
        """Of the predictions of a camera."""
        return topic(self._node, camera, "prediction").encode()

    def predictions(self, outgoing: Sequence[Outgoing]) -> None:
        """Publish them; `outcomes` tells when and whether that was done."""
        if dropped := self._sender.put(*outgoing):
            self._unsent.labels("prediction").inc(dropped)

    def outcomes(self) -> list[Outcome]:
        """Of predictions, since the call before."""
        return self._sender.outcomes()

    def stop(self, within_s: float) -> list[Outgoing]:
        """Send what is queued; the predictions for which the time did not suffice."""
        return self._sender.stop(within_s)

    def event(self, notice: HubEvent) -> None:
        """Publish what has happened."""
        event = Event(
            node=self._node,
            boot=self.boot,
            at=wall_s(),
            event=notice.event,
            camera=notice.camera,
            worker=notice.worker,
            message=notice.message,
        )
        self._send(notice.camera, "event", to_json(event))

    def shadow(self, told: ShadowResult, answered_by: str, shadow: str) -> None:
        """Publish what two models answer to a frame."""
        answers = ShadowAnswers(
            frame=told.frame,
            sha256=answered_by,
            top=told.top,
            shadow_sha256=shadow,
            shadow_top=told.shadow,
            truth=told.truth,
        )
        event = Event(
            node=self._node,
            boot=self.boot,
            at=wall_s(),
            event="shadow",
            camera=told.camera,
            message=f"answered {_best(told.top)}, in the shadow {_best(told.shadow)}",
            shadow=answers,
        )
        self._send(told.camera, "event", to_json(event))

    def status(self, first_seq: int, last_seq: int, last_frames: dict[str, int], standing: NodeStatus) -> None:
        """Publish that this node is alive, what came last, and how it stands."""
        status = Status(
            node=self._node,
            boot=self.boot,
            at=wall_s(),
            first_seq=first_seq,
            last_seq=last_seq,
            replay=self._replay,
            cameras=last_frames,
            camera_states=standing.cameras,
            workers=standing.workers,
            energy=standing.energy,
        )
        self._send(None, "status", to_json(status))

    def snapshot(self, snapshot: Snapshot, jpeg: Part) -> None:
        """Publish a picture of a frame; who stalls misses it."""
        header = SnapshotHeader(
            node=self._node,
            boot=self.boot,
            camera=snapshot.camera,
            frame=snapshot.frame,
            captured_at=snapshot.captured_at,
            width=snapshot.width,
            height=snapshot.height,
        )
        self._put("snapshot", [snapshot_topic(self._node, snapshot.camera).encode(), to_json(header), jpeg])

    def _send(self, camera: str | None, what: Literal["event", "status"], json: bytes) -> None:
        self._put(what, [topic(self._node, camera, what).encode(), json])

    def _put(self, what: What, parts: Sequence[Part]) -> None:
        if self._sender.put(parts):
            self._unsent.labels(what).inc()


def _best(top: tuple[Label, ...]) -> str:
    return f"{top[0].label} ({top[0].score:.2f})" if top else "nothing"


COMMIT = 32  # predictions, together at most: none waits long for the others
PATIENCE = 0.8  # of the time until a prediction is too old, the commit may take this part
STOP_S = 1.0  # for what is queued when the hub ends

log = logging.getLogger("edged.hub")


@dataclass(slots=True, eq=False)
class AnsweredJob:
    """A job whose frames become predictions. It is counted together with them, once all of them are settled.

    `before`: who has run the segments of the network before the last one. `count`: counts the job. `unsettled`:
    predictions without an outcome yet; `outcomes`: those of the others.
    """

    scores: Scores
    hello: WorkerHello
    answered_ns: int
    before: StageResults
    count: Callable[[], None]
    unsettled: int = 0
    outcomes: list[Outcome] = field(default_factory=list)


class Outlet:
    """Numbers and publishes. A journal that fails does not stop the stream.

    Predictions of one turn of the hub's loop share a commit: under load it is what costs most. A prediction counts
    as published once it was sent; one that is too old by then is dropped, and its number stands for nothing.
    All metrics of a job and its predictions change at the same moment: until then its frames are pending.
    """

    def __init__(
        self,
        node: str,
        publisher: Publisher,
        journal: Journal,
        metrics: Metrics,
        tally: Tally,
        labels: int,
        notebook: Notebook,
        router: Router,
    ) -> None:
        self.node = node
        self._notebook = notebook
        self._origin = Origin(node, publisher.boot)
        self._publisher = publisher
        self._journal = journal
        self._metrics = metrics
        self._tally = tally
        self._first_seq = self._next_seq = journal.next_seq
        self.answered_by, self.answers_since = "", self._next_seq  # the model of the last one, and its first
        self._unsent: list[Outgoing] = []
        self._jobs: dict[int, AnsweredJob] = {}  # by the number of each prediction without an outcome
        self._uncounted = 0
        self._router = router
        self._figures = PredictionFigures(metrics, labels)
        for reason in get_args(Reason):
            metrics.journal_errors.labels(reason)

    @property
    def next_seq(self) -> int:
        """Of the next prediction."""
        return self._next_seq

    @property
    def unsettled(self) -> int:
        """Predictions that do not count as published or dropped yet."""
        return self._uncounted

    def publish(self, held: Held, place: int, job: AnsweredJob) -> None:
        """Publish, at the next `flush`, the prediction of a frame, number `place` of the job answered just now."""
        prediction = predict(
            self._origin,
            self._next_seq,
            held.frame,
            place,
            scores=job.scores,
            hello=job.hello,
            answered_ns=job.answered_ns,
            before=job.before,
        )
        if self.answered_by != prediction.model.sha256:
            self.answered_by, self.answers_since = prediction.model.sha256, prediction.seq
        self._next_seq += 1
        self._jobs[prediction.seq] = job
        job.unsettled += 1
        self._uncounted += 1
        self._unsent.append(
            Outgoing(
                topic=self._publisher.topic_of(prediction.camera),
                prediction=prediction,
                held=Held(held.frame, b"", held.lost),
                made_ns=now_ns(),
                stale_ns=self._router.stale_ns(held),
            )
        )
        if len(self._unsent) == COMMIT:
            self.flush()

    def flush(self) -> None:
        """Publish what is ready: the journal has it before anybody else, or it says that it has not."""
        if not self._unsent:
            return
        unsent, self._unsent = self._unsent, []
        start_ns = now_ns()
        made = [each.prediction for each in unsent]
        rows = [Row(each.seq, each.published_at, to_json(each)) for each in made]
        reason = self._journal.append(rows, _patience_s(unsent, start_ns))
        if reason:
            self._metrics.journal_errors.labels(reason).inc(len(unsent))
        else:
            self._metrics.journal_seconds.observe(seconds_since(start_ns))
        if self._notebook.is_open:
            self._notebook.note("journal", start_ns, now_ns(), predictions=len(unsent), error=reason or "")
        for each in unsent:
            each.journaled = reason is None
        self._publisher.predictions(unsent)

    def settle(self) -> None:
        """Count the jobs of which every prediction has been sent or dropped."""
        self._settle(self._publisher.outcomes())

    def close(self) -> None:
        """Send what is queued; what does not go out in time is dropped."""
        self.flush()
        left = self._publisher.stop(STOP_S)
        self.settle()
        self._settle(Outcome(outgoing, None, "shutdown") for outgoing in left)
        for job in self._jobs.values():  # of a prediction on which the thread hangs: no outcome will come
            self._count(job)

    def _settle(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            seq = outcome.outgoing.prediction.seq
            if outcome.sent is None:
                self._journal.withdraw(seq)  # what is dropped is not fetched again either
            job = self._jobs.pop(seq)
            job.outcomes.append(outcome)
            job.unsettled -= 1
            if not job.unsettled:
                self._count(job)

    def _count(self, job: AnsweredJob) -> None:
        job.count()
        self._uncounted -= len(job.outcomes)
        for outcome in job.outcomes:
            if outcome.sent is None:
                self._router.dropped(outcome.outgoing.held, outcome.reason)
                continue
            self._router.predicted(outcome.outgoing.held)
            self._tally.add(outcome.sent)
            self._figures.add(outcome.sent)
            if self._notebook.is_open:
                note_prediction(self._notebook, outcome.sent, job.answered_ns, outcome.outgoing.prediction)

    def count(self) -> None:
        """Bring the metrics of predictions up to date."""
        self._figures.count()

    def announce(self, notice: HubEvent) -> None:
        """Log an event and publish it, after what came before it."""
        self.flush()
        log.log(logging.WARNING if notice.is_bad else logging.INFO, "%s", notice.message)
        self._publisher.event(notice)

    def shadow(self, answers: ShadowResult, answered_by: str, shadow: str) -> None:
        """Publish what two models answer to a frame, of which one is only looked at. Once a frame: not logged."""
        self._publisher.shadow(answers, answered_by, shadow)

    def status(self, standing: NodeStatus) -> None:
        """Publish that this node is alive and how it stands, and what has become of its journal."""
        self.tell_of_the_journal()
        last_frames = {name: camera.last_frame for name, camera in self._tally.cameras.items()}
        self._publisher.status(self._first_seq, self._next_seq - 1, last_frames, standing)

    def tell_of_the_journal(self) -> None:
        """Announce what has happened to it."""
        for notice in self._journal.notices():
            self.announce(notice)
        self._metrics.journal_bytes.set(self._journal.bytes())
        self._metrics.journal_aside.set(self._journal.bytes_aside())
        self._metrics.journal_limit.set(self._journal.limit_bytes)
        self._metrics.journal_disk_free.set(self._journal.disk_free_bytes)


def _patience_s(unsent: Iterable[Outgoing], now: int) -> float | None:
    """How long they may wait for the disk: none is to grow too old. None: as long as the config says."""
    stale_ns = min((each.stale_ns for each in unsent if each.stale_ns is not None), default=None)
    return None if stale_ns is None else max(0.0, PATIENCE * (stale_ns - now) / NANOSECONDS)
