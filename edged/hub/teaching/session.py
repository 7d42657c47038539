"""A teaching session: a camera's frames with their features for one client, or a version in shadow."""

from collections.abc import Iterator
from dataclasses import dataclass

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.errors import EdgedError
from edged.hub.client_session import ClientSession
from edged.hub.events import HubEvent
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.queues import Held, Pixels
from edged.hub.links.peers import Links
from edged.hub.node import Node
from edged.hub.publish.publisher import Publisher
from edged.hub.publish.sender import AnsweredJob
from edged.hub.teaching.promotion import Steps, elsewhere, prepare, soon_ns
from edged.hub.workers.heads import TaughtHead, gives_scores, load_taught_head
from edged.messages import (
    CropSample,
    LinkMessage,
    ShadowResult,
    TeachEnded,
    TeachProgress,
    TeachRequest,
    TeachStarted,
    labels_of,
)
from edged.messages.teaching import SessionEnd
from edged.system.plain_text import counted

PROGRESS_NS = NANOSECONDS


@dataclass(eq=False, kw_only=True)
class TeachSession(ClientSession):
    """One client that teaches. `shadow_head`: the head that answers in shadow."""

    request: TeachRequest
    shadow_head: TaughtHead | None = None
    frames: int = 0
    missed: int = 0
    _due_ns: int = 0
    _progress_ns: int = 0

    def is_of(self, camera: str) -> bool:
        """Return whether frames of this camera are requested."""
        return self.request.camera in {None, camera}

    def is_in(self, assigned: Assigned) -> bool:
        """Return whether requested frames are in this job."""
        return any(self.is_of(held.frame.camera) for held in assigned.frames)

    def takes(self, assigned: Assigned, now: int) -> bool:
        """Return whether a crop of this job is due; then the next one is due `every_s` later."""
        if now < self._due_ns or not self.is_in(assigned):
            return False
        self._due_ns = max(now, self._due_ns + nanoseconds(self.request.every_s))
        return True

    def offer(self, links: Links, sample: LinkMessage, *payloads: Pixels) -> None:
        """Send a sample to the client; one without room is counted as missed."""
        if self.send(links, sample, payloads):
            self.frames += 1
        else:
            self.missed += 1

    def is_progress_due(self, now: int) -> bool:
        """Return whether a second has passed: progress also shows whether the client is still there."""
        return now - self._progress_ns >= PROGRESS_NS

    def progress(self, links: Links, now: int, waits: str) -> None:
        """Send the progress. `waits`: why there are no samples."""
        self._progress_ns = now
        self.send(links, TeachProgress(frames=self.frames, missed=self.missed, waiting_for=waits))

    def why_over(self, now: int) -> TeachEnded | None:
        """Return the last message if the requested time or number is reached, else None."""
        if self.request.frames is not None and self.frames >= self.request.frames:
            return self.ending("frames")
        if now >= self.until_ns:
            return self.ending("time")
        return None

    def ending(self, why: SessionEnd, message: str = "") -> TeachEnded:
        """Return the last message to the client."""
        return TeachEnded(reason=why, frames=self.frames, missed=self.missed, message=message)

    @property
    def next_ns(self) -> int:
        """Return when something is due even if nothing arrives."""
        return min(self._progress_ns + PROGRESS_NS, self.until_ns)


FLOAT = 4  # bytes


def crop_sample(scored: AnsweredJob, index: int) -> CropSample | None:
    """Return frame number `index` of a job as a sample; None if its worker has sent no features."""
    frame, values = scored.assigned.frames[index].frame, _size(scored) // FLOAT
    if not scored.assigned.features or not values or _size(scored) % FLOAT:
        return None
    return CropSample(
        camera=frame.camera,
        frame=frame.frame,
        captured_at=frame.captured_at,
        width=frame.width,
        height=frame.height,
        features=values,
        top=labels_of(scored.scores.frames[index], scored.hello.model.labels),
        truth=frame.truth,
        version=scored.assigned.head,
    )


def features_of(scored: AnsweredJob, index: int) -> bytes:
    """Return the features of a frame, as received."""
    size = _size(scored)
    return bytes(scored.payloads[0][index * size : (index + 1) * size])


def shadowed(scored: AnsweredJob, index: int, taught: TaughtHead) -> ShadowResult | None:
    """Return both answers to a frame; None if the shadow has given no valid one."""
    frame, labels, shadow = scored.assigned.frames[index].frame, taught.version.labels, scored.scores.shadow
    if scored.assigned.shadow != taught.sha256 or len(shadow) <= index:
        return None
    if any(score.index >= len(labels) for score in shadow[index]):
        return None
    return ShadowResult(
        camera=frame.camera,
        frame=frame.frame,
        top=labels_of(scored.scores.frames[index], scored.hello.model.labels),
        shadow=labels_of(shadow[index], labels),
        truth=frame.truth,
    )


def _size(scored: AnsweredJob) -> int:
    """Return the bytes of a frame's features."""
    return len(scored.payloads[0]) // len(scored.assigned.frames) if scored.payloads else 0


UNTEACHABLE = "{} does not end in a fully connected layer: it cannot be taught"


class Teaching:
    """Serves one client that teaches: it observes the pipeline's jobs while it is active."""

    def __init__(self, node: Node, publisher: Publisher) -> None:
        self.is_active = False  # requests extras of jobs
        self._node = node
        self._publisher = publisher
        self._steps: Steps[TaughtHead] | None = None
        self._now: TeachSession | None = None

    @property
    def has_session(self) -> bool:
        """Return whether a client teaches, or is about to."""
        return self._now is not None

    def start(self, client: str, request: TeachRequest) -> list[HubEvent]:
        """Begin a session for `client`, or refuse it with the reason."""
        if refused := self._busy() or self._problem(request):
            self._node.links.send(client, TeachStarted(refused=refused))
            return []
        self._now = TeachSession(client=client, until_ns=_end_of(request), request=request)
        if request.mode == "shadow":
            self._steps = self._load_shadow_head(str(request.version))
            return []
        return [self._begin(self._now)]

    def stop(self, client: str) -> list[HubEvent]:
        """End the session of a client that leaves before the end."""
        return [self._end(self._now)] if self._now and self._now.client == client else []

    def step(self, now: int) -> list[HubEvent]:
        """Continue the session at each turn of the loop; return what has happened."""
        session = self._now
        if session is None:
            return []
        if self._steps:
            return self._prepare(session)
        if session.is_progress_due(now):
            self._offer(session)
            session.progress(self._node.links, now, self._why_nothing(session))
        if ending := session.why_over(now):
            self._node.links.send(session.client, ending)
            return [self._end(session)]
        return [self._end(session)] if session.is_gone(now) else []

    def next_ns(self) -> int | None:
        """Return when `step` must be called even if nothing arrives."""
        if self._steps:
            return soon_ns()
        return self._now.next_ns if self._now else None

    def close(self) -> None:
        """End the session, with the hub."""
        if self._now:
            self._node.links.send(self._now.client, self._now.ending("lost", "the daemon ends"))
            self._end(self._now)

    def _load_shadow_head(self, version: str) -> Steps[TaughtHead]:
        taught = yield from elsewhere(lambda: load_taught_head(self._node.heads.folder, version))
        yield from prepare(self._node.heads, self._node.workers, taught)
        return taught

    def _prepare(self, session: TeachSession) -> list[HubEvent]:
        try:
            if self._steps:
                next(self._steps)
        except StopIteration as done:
            self._steps = None
            session.shadow_head = done.value
            return [self._begin(session)]
        except (EdgedError, OSError) as error:
            self._node.links.send(session.client, TeachStarted(refused=str(error)))
            self._steps = self._now = None
        return []

    def _begin(self, session: TeachSession) -> HubEvent:
        session.until_ns = _end_of(session.request)
        heads, answers = self._node.heads, self._node.heads.answers
        self.is_active = True
        begins = TeachStarted(
            node=self._publisher.node,
            folder=str(heads.folder),
            base=heads.base,
            version=answers.sha256 if answers else "",
        )
        self._node.links.send(session.client, begins)
        head = session.shadow_head
        what = f"version {head.version} runs in shadow" if head else "it records crops"
        message = f"edged teach has started: {what}, at most for {session.request.seconds:g} s"
        return HubEvent("teaching_started", message, camera=session.request.camera)

    def _offer(self, session: TeachSession) -> None:
        """Offer the shadow head to workers that have joined since."""
        for name, hello in self._node.workers.hellos.items():
            if session.shadow_head and gives_scores(hello) and not self._node.heads.has(name, session.shadow_head):
                self._node.heads.offer(name, session.shadow_head)

    def _end(self, session: TeachSession) -> HubEvent:
        self._now = self._steps = None
        self.is_active = False
        message = f"edged teach has ended: {counted(session.frames, 'frame')}"
        return HubEvent("teaching_ended", message, camera=session.request.camera)

    def request_extras(self, assigned: Assigned) -> None:
        """Request features, or the scores of the shadow, of a job that is about to be sent."""
        session = self._now
        if session is None:
            return
        if session.shadow_head is None:
            able = self._node.workers.hellos[assigned.worker].features > 0
            assigned.features = able and session.takes(assigned, now_ns())
        elif self._node.heads.has(assigned.worker, session.shadow_head) and session.is_in(assigned):
            assigned.shadow = session.shadow_head.sha256

    def receive_scores(self, job: AnsweredJob) -> None:
        """Send the client the extras of a job."""
        session = self._now
        if session is None or session.why_over(now_ns()):
            return
        for index, held in _of(session, job):
            if session.shadow_head is None:
                if sample := crop_sample(job, index):
                    session.offer(self._node.links, sample, held.pixels, features_of(job, index))
                return  # one of each job, up to the requested rate
            if both := shadowed(job, index, session.shadow_head):
                self._publisher.shadow(both, job.hello.model.sha256, session.shadow_head.sha256)
                session.offer(self._node.links, both)

    def _busy(self) -> str:
        return self._now.refusal(now_ns()) if self._now else ""

    def _problem(self, request: TeachRequest) -> str:
        cameras = [name for name in self._node.router.cameras if name not in self._node.cameras.states.removed]
        if request.camera is not None and request.camera not in cameras:
            return f"this daemon has no camera {request.camera}; there are: {', '.join(cameras)}"
        if request.mode == "record" and request.camera is None:
            return "no camera was named"
        if request.mode == "shadow" and request.version is None:
            return "no version was named"
        ready = [hello for hello in self._node.workers.hellos.values() if gives_scores(hello)]
        if not ready:
            return "no worker is ready: wait for one"
        return "" if any(hello.features for hello in ready) else UNTEACHABLE.format(ready[0].model.name)

    def _why_nothing(self, session: TeachSession) -> str:
        camera = session.request.camera
        if not self._node.supervisor.works:
            return "no worker is ready"
        if camera is not None and not self._node.cameras.states.is_up(camera):
            return f"camera {camera} is down: {self._node.cameras.states.error(camera) or 'it gives no frames'}"
        return ""


def _end_of(request: TeachRequest) -> int:
    return now_ns() + nanoseconds(request.seconds)


def _of(session: TeachSession, scored: AnsweredJob) -> Iterator[tuple[int, Held]]:
    """Return the requested frames of a job, with their places in it."""
    return (each for each in enumerate(scored.assigned.frames) if session.is_of(each[1].frame.camera))
