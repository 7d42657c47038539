"""A frame's way through the hub, from top to bottom: it arrives, is assigned, is answered, is published.

A worker that runs a part of the network answers with features: those are assigned again, to the next part.
"""

from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from edged.clock import NANOSECONDS, now_ns
from edged.config import Config
from edged.hub.events import HubEvent
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.prediction import Origin, predict
from edged.hub.frames.queues import Held, StageResult
from edged.hub.frames.tracks import CameraTracks
from edged.hub.journal.journal import Journal
from edged.hub.journal.schema import Row
from edged.hub.links.received import Received, Role
from edged.hub.node import Node
from edged.hub.publish.publisher import Publisher
from edged.hub.publish.sender import AnsweredJob, Outcome, Outgoing
from edged.hub.stats.summary import Limits
from edged.hub.workers.workers import JobObserver
from edged.messages import Features, Frame, JobFailed, Scores, Stop, WorkerHello, to_json, topic


class Pipeline:
    """Takes frames in, hands them out as jobs, and takes the answers.

    `publication` does the last step; the router of `node` knows which frames wait and which are in flight.
    """

    def __init__(self, node: Node, publication: "Publication", observer: JobObserver) -> None:
        self.publication = publication
        self.router = node.router
        self._links = node.links
        self._liveness = node.liveness
        self._cameras = node.cameras
        self._workers = node.workers
        self._stats = node.stats
        self._observer = observer

    # ── 1. A frame arrives ──

    def receive_message(self, received: Received, now: int) -> list[HubEvent]:
        """Handle a message of a camera or a worker. A camera that this hub does not have is refused."""
        if received.role is Role.WORKER:
            self._liveness.worker_heard(now)
            events = self._receive_from_worker(received)
        else:
            events = self._receive_from_camera(received, now)
        self._stats.received(received.message, now)
        return events

    def _receive_from_camera(self, received: Received, now: int) -> list[HubEvent]:
        name, message = received.name, received.message
        is_known = received.role is Role.CAMERA and name in self.router.cameras
        if not is_known or getattr(message, "camera", name) != name:
            self._links.send(received.peer, Stop(refused=f"this hub's config has no camera {name}"))
            return []
        self._liveness.camera_heard(name, now)
        if isinstance(message, Frame):
            self._accept_frame(message, received.payloads, now)
            return []
        return self._cameras.handle_message(received, now)

    def _accept_frame(self, frame: Frame, payloads: Sequence[memoryview], now: int) -> None:
        """Let a frame wait for its turn, if its size is the one that the model takes (3 bytes a pixel)."""
        wanted = self._cameras.model
        is_whole = len(payloads) == 1 and len(payloads[0]) == frame.width * frame.height * 3
        if not (is_whole and wanted and (frame.width, frame.height) == (wanted.width, wanted.height)):
            self.router.frame_unusable(frame.camera, frame.count)
            return
        self._stats.captured_at[frame.camera] = frame.captured_at
        if frame.clock_error_s and frame.captured_ns > now:  # it cannot arrive before it was captured
            frame = msgspec.structs.replace(frame, captured_ns=now)
        self.router.frame_arrived(Held(frame, payloads[0]), now)

    # ── 2. It is assigned to a worker ──

    def advance(self, *, gathers: bool) -> list[str]:
        """Publish answered frames, assign waiting ones. Return the workers that cannot be reached.

        `gathers`: predictions of `COMMIT_NS` share a commit, not those of one turn alone.
        """
        if not gathers or self.publication.is_commit_due(now_ns()):
            self.publication.flush()
        self.publication.settle()
        unreachable = self._hand_out_jobs()
        if self.router.grants_frames:
            self._grant_frames()
        while self.router.holds.changed:
            self._cameras.hold(*self.router.holds.changed.popitem())
        return unreachable

    def _hand_out_jobs(self) -> list[str]:
        """Send jobs while frames wait and workers are free."""
        unreachable = []
        begun_ns = now_ns()
        for assigned in self.router.assign_all(begun_ns):
            if not self._send_job(assigned, begun_ns):
                self._workers.left(assigned.worker, "worker_lost")
                unreachable.append(assigned.worker)
            begun_ns = now_ns()
        return unreachable

    def _send_job(self, assigned: Assigned, begun_ns: int) -> bool:
        """Send a job; return False if the worker cannot be reached.

        `begun_ns`: when the router began to choose it.
        """
        if not assigned.until:
            assigned.head = self._workers.heads.active_name
            if self._observer.is_active:
                self._observer.request_extras(assigned)
        hello = self._workers.hellos.get(assigned.worker)
        detects = hello is not None and hello.model.task == "detect"
        job = assigned.message(self.publication.top, detects=detects)
        if not self._links.send(f"worker/{assigned.worker}", job, assigned.payloads):
            return False
        self._stats.job_sent(assigned, begun_ns)
        return True

    def _grant_frames(self) -> None:
        """Tell the cameras that wait for room how many more frames they may capture."""
        for name, frames in self.router.grants().items():
            self._cameras.grant(name, frames)

    # ── 3. It is answered ──

    def _receive_from_worker(self, received: Received) -> list[HubEvent]:
        message, hello = received.message, self._workers.hellos.get(received.name)
        if hello and isinstance(message, (Scores, Features, JobFailed)):
            return self._take_answer(hello, message, received.payloads)
        return self._workers.handle_message(received)

    def _take_answer(
        self, hello: WorkerHello, answer: Scores | Features | JobFailed, payloads: Sequence[memoryview]
    ) -> list[HubEvent]:
        """Publish what is answered, or pass it on to the next part. The answer to a job given up is ignored."""
        answered_ns = now_ns()
        if not isinstance(answer, JobFailed):
            answer = self._stats.energy.answered(hello, answer)
        assigned = self.router.answered(answer.job, hello.worker, answered_ns)
        if assigned is None:
            return []
        if isinstance(answer, JobFailed):
            message = f"worker {hello.worker} failed a job: {answer.error}"
            return self._drop_job(assigned, answer.reason, message)
        took_s = (answered_ns - assigned.since_ns) / NANOSECONDS
        if assigned.head:
            hello = self._workers.heads.hello_by(hello, assigned.head)
        if isinstance(answer, Scores) and assigned.fits_scores(answer, hello.model):
            job = AnsweredJob(assigned, answer, hello, payloads, answered_ns, took_s)
            self.publication.publish(job)
            if self._observer.is_active and (assigned.features or assigned.shadow):
                self._observer.receive_scores(job)
            return []
        self._stats.job_answered(hello.worker, len(assigned.frames), answer, took_s)
        if isinstance(answer, Features) and assigned.fits_features(
            payloads, hello.part.values_out if hello.part else 0
        ):
            self.router.passed_on(assigned, payloads[0], StageResult(hello, answer))
            return []
        message = f"worker {hello.worker} sent an invalid answer to a job"
        return self._drop_job(assigned, "device_error", message)

    def _drop_job(self, assigned: Assigned, reason: str, message: str) -> list[HubEvent]:
        """Try its frames once more if the device has failed; a wrong result of the network is final."""
        for held in assigned.frames:
            if reason == "device_error":
                self.router.lost(held, reason, now_ns())
            else:
                self.router.dropped(held, reason)
        if not self._workers.is_first_failure(assigned.worker, reason):
            return []
        return [HubEvent("job_failed", message, worker=assigned.worker, reason=reason)]


# ── 4. It is published ──

COMMIT_NS = NANOSECONDS // 2000  # that a prediction waits under load for others of its commit
COMMIT = 32  # predictions, all together: none waits long for the others
PATIENCE = 0.8  # share of the time until a prediction is too old that the commit may take
STOP_S = 1.0  # seconds for queued messages when the hub ends


class Publication:
    """Numbers predictions, writes them to the journal and publishes them. A journal that fails stops nothing.

    Predictions of one turn of the loop share a commit; under load those of `COMMIT_NS` do. A prediction counts as
    published once it was sent; one that is too old by then is dropped, and its number stands for nothing.
    All metrics of a job and its predictions change at the same moment: until then its frames are pending.
    """

    def __init__(
        self, node: Node, publisher: Publisher, journal: Journal, limits: Limits, top: int, *, tracks: bool = False
    ) -> None:
        """`top`: labels in each prediction. `limits`: frames answered after its count are dropped (`shutdown`).

        `tracks`: whether the boxes of detectors get numbers.
        """
        self.top = top
        self.seen = node.seen
        self.unsettled = 0  # predictions not yet counted as published or dropped
        self.first_seq = self.next_seq = journal.next_seq
        # the model of the last one, and its first prediction
        self.answered_by, self.answers_since = "", self.next_seq
        self._router = node.router
        self._answers = node.cameras.answers
        self._publisher = publisher
        self._sender = publisher.sender
        self._origin = Origin(publisher.node, publisher.boot)
        self._topic_of = cache(lambda camera: topic(publisher.node, camera, "prediction").encode())
        self._journal = journal
        self._stats = node.stats
        self._limits = limits
        self._tracks = CameraTracks(are_wanted=tracks)
        self._unsent: list[Outgoing] = []
        self._changed_states: list[HubEvent] = []
        self._jobs: dict[int, AnsweredJob] = {}  # by the number of each prediction without an outcome

    def set_config(self, config: Config) -> None:
        """Take over the labels of each prediction and the limits of the journal."""
        self.top = config.publish.top
        self.seen.set_config(config.states)
        self._tracks.set_wanted(are_wanted=config.model.boxes.track)
        self._journal.set_limits(config.journal)

    @property
    def commit_due_ns(self) -> int | None:
        """Return when predictions must be committed that wait for others; None: none wait."""
        return self._unsent[0].made_ns + COMMIT_NS if self._unsent else None

    def is_commit_due(self, now: int) -> bool:
        """Return whether predictions have waited for others as long as they may."""
        due_ns = self.commit_due_ns
        return due_ns is not None and now >= due_ns

    def is_over(self, first_ready_ns: int | None) -> bool:
        """Return whether the run has reached its limits. `first_ready_ns`: when the first worker was ready."""
        return self._limits.reached(self._stats.summary.predictions, first_ready_ns)

    def publish(self, job: AnsweredJob) -> None:
        """Publish, at the next `flush`, the predictions of a job answered just now; drop those that may not be."""
        for index, held in enumerate(job.assigned.frames):
            stale_ns = self._router.stale_ns(held)
            if stale_ns is not None and now_ns() > stale_ns:
                self._router.dropped(held, "stale")
            elif self._limits.count_reached(self._stats.summary.predictions + self.unsettled):
                self._router.dropped(held, "shutdown")
            else:
                self.add(held, index, job, stale_ns)
        if not job.unsettled:  # none of its frames is published
            self._stats.job_answered(job.hello.worker, len(job.assigned.frames), job.scores, job.seconds)

    def add(self, held: Held, index: int, job: AnsweredJob, stale_ns: int | None) -> None:
        """Publish, at the next `flush`, the prediction of a frame, number `index` of the job answered just now.

        `stale_ns`: when the frame is too old to be published; None: never.
        """
        prediction = predict(
            self._origin,
            self.next_seq,
            held.frame,
            index,
            scores=job.scores,
            hello=job.hello,
            answered_ns=job.answered_ns,
            before=job.assigned.legs,
            tracks=self._tracks.numbers(held.frame, job.scores, index) if job.scores.boxes else (),
        )
        if prediction.camera in self._answers.cameras:
            self._answers.predicted(held.frame, prediction)
        if self.answered_by != prediction.model.sha256:
            self.answered_by, self.answers_since = prediction.model.sha256, prediction.seq
        self.next_seq += 1
        self._jobs[prediction.seq] = job
        job.unsettled += 1
        self.unsettled += 1
        without_pixels = Held(held.frame, b"", held.lost)
        self._unsent.append(
            Outgoing(self._topic_of(held.frame.camera), prediction, without_pixels, now_ns(), stale_ns)
        )
        if len(self._unsent) == COMMIT:
            self.flush()

    def flush(self) -> None:
        """Publish what is ready: first written to the journal, or marked as not stored."""
        if not self._unsent:
            return
        unsent, self._unsent = self._unsent, []
        start_ns = now_ns()
        made = [each.prediction for each in unsent]
        rows = [Row(each.seq, each.published_at, to_json(each)) for each in made]
        reason = self._journal.append(rows, _patience_s(unsent, start_ns))
        self._stats.journaled(len(unsent), start_ns, reason)
        for each in unsent:
            each.journaled = reason is None
        if dropped := self._sender.put(*unsent):
            self._stats.not_sent(dropped)

    def announce(self, event: HubEvent) -> None:
        """Log and publish an event, after everything queued before it."""
        self.flush()
        self._publisher.announce(event)

    def report_journal(self) -> None:
        """Announce what has happened to the journal, and show its size in the metrics."""
        for event in self._journal.notices():
            self.announce(event)
        self._stats.show_journal(self._journal)

    def settle(self) -> None:
        """Count the jobs of which every prediction has been sent or dropped, and announce changed states."""
        if self.unsettled:
            self._settle(self._sender.outcomes())
        if self._changed_states:
            changed, self._changed_states = self._changed_states, []
            for event in changed:
                self.announce(event)

    def close(self) -> None:
        """Send what is queued; what is not sent in time is dropped."""
        self.report_journal()
        self.flush()
        left = self._sender.stop(STOP_S)
        self.settle()
        self._settle(Outcome(outgoing, None, "shutdown") for outgoing in left)
        for job in self._jobs.values():  # of a prediction at which the thread hangs: no outcome will come
            self._count(job)

    def _settle(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            seq = outcome.outgoing.prediction.seq
            if outcome.sent is None:
                self._journal.withdraw(seq)  # dropped predictions are not available from the journal either
            job = self._jobs.pop(seq)
            job.outcomes.append(outcome)
            job.unsettled -= 1
            if not job.unsettled:
                self._count(job)

    def _count(self, job: AnsweredJob) -> None:
        self._stats.job_answered(job.hello.worker, len(job.assigned.frames), job.scores, job.seconds)
        self.unsettled -= len(job.outcomes)
        for outcome in job.outcomes:
            if outcome.sent is None:
                self._router.dropped(outcome.outgoing.held, outcome.reason)
                continue
            self._router.predicted(outcome.outgoing.held)
            self._stats.published(outcome.sent, outcome.outgoing.prediction, job.answered_ns)
            if self.seen.are_wanted:
                self._changed_states += self.seen.saw(outcome.outgoing.prediction)


def _patience_s(unsent: Iterable[Outgoing], now: int) -> float | None:
    """Return how long they may wait for the disk before they get too old; None: as in the config."""
    stale_ns = min((each.stale_ns for each in unsent if each.stale_ns is not None), default=None)
    return None if stale_ns is None else max(0.0, PATIENCE * (stale_ns - now) / NANOSECONDS)
