"""What the hub reports to systemd: starting, ready, alive, and a status line.

The watchdog is fed by progress, not by a clock. The pipeline is alive where, since the last beat, both hold:
- frames: one more was captured, or none is due: each camera has ended, waits for room, or reports that it is down;
- answers: one more job was answered, or none is due: no frame waits, or the worker reports that it is starting.

A state counts as reported where a child said so itself, or has ended; what the hub concludes from a child's
silence does not count. So a hub whose link, router or slots have stuck is detected, though its loop turns and it
restarts its children. Whether an answer became a prediction does not matter: no restart helps a model that is
too slow or gives NaN.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edged.clock import NANOSECONDS, now_ns
from edged.hub.cameras.cameras import Cameras
from edged.hub.events import HubEvent
from edged.hub.frames.router import Router
from edged.hub.links.peers import Links
from edged.hub.liveness import Liveness
from edged.hub.service_threads import ServiceThreads
from edged.hub.stats.summary import Tally
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.system import systemd

DOWN_NS = (
    30 * NANOSECONDS
)  # a camera that is down says so each second, or when the opening it waits for has failed
STARTING_NS = 600 * NANOSECONDS  # a small GPU may compile for minutes


@dataclass(frozen=True, slots=True)
class CameraSign:
    """One camera, as the hub knows it. `heard_ns`: when it, or its own end, was last heard of.

    `away`: on another host, and down: nobody need say so.
    """

    captured: int
    up: bool
    heard_ns: int
    ended: bool = False
    waits_for_room: bool = False
    away: bool = False

    def owes_a_frame(self, now_ns: int) -> bool:
        """Whether there should be frames, or word why there are none."""
        if self.ended or self.waits_for_room or self.away:
            return False
        return self.up or now_ns - self.heard_ns > DOWN_NS


@dataclass(frozen=True, slots=True)
class WorkerSign:
    """The workers. `answered`: jobs; `frames_wait`: some have no answer yet; `heard_ns`, `away` as for cameras."""

    answered: int
    ready: bool
    frames_wait: bool
    heard_ns: int
    away: bool = False

    def may_be_starting(self, now_ns: int) -> bool:
        """Return whether a worker that is not ready can be expected to become so."""
        return self.away or now_ns <= self.heard_ns + STARTING_NS

    def owes_an_answer(self, now_ns: int) -> bool:
        """Whether there should be one, or word why there is none."""
        return self.frames_wait and (self.ready or not self.may_be_starting(now_ns))


class Heartbeat:
    """Remembers the counts of the last beat."""

    def __init__(self) -> None:
        self._captured = self._answered = 0

    def beats(self, cameras: Iterable[CameraSign], worker: WorkerSign, now_ns: int) -> bool:
        """Whether all that should move has moved since this was last True. Ask about once a second."""
        cameras = list(cameras)
        captured = sum(camera.captured for camera in cameras)
        frames_move = captured > self._captured or not any(camera.owes_a_frame(now_ns) for camera in cameras)
        answers_move = worker.answered > self._answered or not worker.owes_an_answer(now_ns)
        if frames_move and answers_move:
            self._captured, self._answered = captured, worker.answered
        return frames_move and answers_move


STATUS_NS = 5 * NANOSECONDS
EXTEND_S = 15.0  # asked for anew each second
OWN_END = {"exit", "signal"}  # a worker that ended by itself, against one that the hub has killed


class Service:
    """Reports from each tick of the loop. Where no systemd listens, nothing happens."""

    def __init__(
        self,
        router: Router,
        cameras: Cameras,
        workers: Workers,
        supervisor: Supervisor,
        liveness: Liveness,
        summary: Tally,
        services: ServiceThreads,
        links: Links,
    ) -> None:
        self._router = router
        self._cameras = cameras
        self._workers = workers
        self._supervisor = supervisor
        self._liveness = liveness
        self._summary = summary
        self._services = services
        self._links = links
        self._heartbeat = Heartbeat()
        self._hung: set[str] = set()
        self._ready = self._reloads = False
        self._status_ns = now_ns()
        self._predictions = 0

    def camera_hangs(self, name: str) -> None:
        """Record that the hub gives a camera up: the end that follows is not its own."""
        self._hung.add(name)

    def child_ended(self, event: HubEvent) -> None:
        """Record the end of a child that has ended by itself: a sign of life."""
        if event.camera and event.camera not in self._hung and event.camera in self._router.cameras:
            self._liveness.camera_ended(event.camera, now_ns())
        self._hung.discard(event.camera or "")
        if event.worker and event.reason in OWN_END:
            self._liveness.worker_heard(now_ns())

    def worker_is_ready(self) -> None:
        """The pipeline works, whether a camera can be reached or not, as soon as every thread of the hub does."""
        if self._services.failed:
            return
        if not self._ready:
            systemd.ready(self._text(0.0))
        self._ready = True

    def reload_begins(self) -> None:
        """The config is read again. Before the first READY, systemd must not take the end of it for one."""
        self._reloads = self._ready
        if self._reloads:
            systemd.reloading()

    def reload_ends(self) -> None:
        """It has been applied, or refused."""
        if self._reloads:
            systemd.ready()
        self._reloads = False

    def tick(self, now: int) -> None:
        """Once a second."""
        worker = self._worker_sign()
        if self._ready and self._heartbeat.beats(self._camera_signs(), worker, now):
            systemd.watchdog()
        if not self._ready and worker.may_be_starting(now):
            systemd.extend_timeout(EXTEND_S)
        if now - self._status_ns >= STATUS_NS or not self._ready:
            self._tell_status(now)

    def _tell_status(self, now: int) -> None:
        predictions = self._summary.predictions
        fps = (predictions - self._predictions) * NANOSECONDS / max(1, now - self._status_ns)
        self._status_ns, self._predictions = now, predictions
        systemd.status(self._text(fps))

    def _text(self, fps: float) -> str:
        down = [name for name in self._router.cameras if not self._cameras.states.is_up(name)]
        cameras = f"{len(self._router.cameras) - len(down)} of {len(self._router.cameras)} cameras up"
        without = f" (without {', '.join(down)})" if down else ""
        failed = self._services.failed
        services = f", failed: {', '.join(failed)}" if failed else ""
        return f"{fps:.1f} fps, {cameras}{without}, {self._worker_text()}{services}"

    def _worker_text(self) -> str:
        running = [f"{hello.model.name} on {hello.device}" for hello in self._workers.hellos.values()]
        if running:
            return ", ".join(running)
        for_s = self._supervisor.warming_up_s
        return f"worker {self._supervisor.worker} is starting" + (f" ({for_s:.0f} s)" if for_s else "")

    def _camera_signs(self) -> Iterator[CameraSign]:
        states = self._cameras.states
        for name, camera in self._router.cameras.items():
            yield CameraSign(
                captured=camera.ledger.captured,
                up=states.is_up(name),
                heard_ns=self._liveness.camera_heard_ns(name),
                ended=name in states.ended,
                waits_for_room=camera.waits and camera.ledger.pending > 0,
                away=f"camera/{name}" in self._links.elsewhere and not states.is_up(name),
            )

    def _worker_sign(self) -> WorkerSign:
        return WorkerSign(
            answered=self._router.answers,
            ready=self._supervisor.works,
            frames_wait=not self._router.idle,
            heard_ns=self._liveness.worker_heard_ns,
            away=self._supervisor.waits_for_others,
        )
