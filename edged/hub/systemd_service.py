"""What the hub reports to systemd: starting, ready, alive, and a status line.

The watchdog is fed by progress, not by a clock. The pipeline is alive if, since the last beat, both hold:
- frames: one more was captured, or none is due: each camera has ended, waits for room or for requests of other
  programs, or reports that it is down;
- answers: one more job was answered, or none is due: no frame waits, or the worker reports that it is starting.

A state counts as reported if the child itself reported it, or has ended; what the hub concludes from a child's
silence does not count. So a hub whose link, router or slots have stuck is detected, though its loop turns and it
restarts its children. Whether an answer became a prediction does not matter: no restart helps a model that is too
slow or gives NaN.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edged.clock import NANOSECONDS, now_ns
from edged.hub.node import Node
from edged.hub.service_threads import ServiceThreads
from edged.system import systemd

DOWN_NS = (
    30 * NANOSECONDS
)  # a camera that is down reports it each second, or when the opening that it waits for fails
STARTING_NS = 600 * NANOSECONDS  # a small GPU may compile for minutes


@dataclass(frozen=True, slots=True)
class CameraSign:
    """One camera, as the hub knows it. `heard_ns`: time of its last message, or of its own end.

    `serves`: its frames are requests of other programs, of which none is due. `away`: on another host, and down:
    no report is due.
    """

    captured: int
    up: bool
    heard_ns: int
    ended: bool = False
    waits_for_room: bool = False
    serves: bool = False
    away: bool = False

    def owes_a_frame(self, now_ns: int) -> bool:
        """Return whether a frame is due, or a report why there is none."""
        if self.ended or self.waits_for_room or self.away:
            return False
        return (self.up and not self.serves) or now_ns - self.heard_ns > DOWN_NS


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
        """Return whether an answer is due, or a report why there is none."""
        return self.frames_wait and (self.ready or not self.may_be_starting(now_ns))


class Heartbeat:
    """Remembers the counts of the last beat."""

    def __init__(self) -> None:
        self._captured = self._answered = 0

    def beats(self, cameras: Iterable[CameraSign], worker: WorkerSign, now_ns: int) -> bool:
        """Return whether everything has moved that should, since this was last True.

        Call it about once a second.
        """
        cameras = list(cameras)
        captured = sum(camera.captured for camera in cameras)
        frames_move = captured > self._captured or not any(camera.owes_a_frame(now_ns) for camera in cameras)
        answers_move = worker.answered > self._answered or not worker.owes_an_answer(now_ns)
        if frames_move and answers_move:
            self._captured, self._answered = captured, worker.answered
        return frames_move and answers_move


class LifeSigns:
    """Derives signs for the heartbeat from the state of cameras and workers."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def of_cameras(self) -> Iterator[CameraSign]:
        """Yield the sign of each camera."""
        states = self._node.cameras.states
        for name, camera in self._node.router.cameras.items():
            yield CameraSign(
                captured=camera.ledger.captured,
                up=states.is_up(name),
                heard_ns=self._node.liveness.camera_heard_ns(name),
                ended=name in states.ended,
                waits_for_room=camera.waits and camera.ledger.pending > 0,
                serves=name in self._node.cameras.answers.cameras,
                away=f"camera/{name}" in self._node.links.elsewhere and not states.is_up(name),
            )

    def of_workers(self) -> WorkerSign:
        """Return the sign of all workers together."""
        return WorkerSign(
            answered=self._node.router.answers,
            ready=self._node.supervisor.works,
            frames_wait=not self._node.router.idle,
            heard_ns=self._node.liveness.worker_heard_ns,
            away=self._node.supervisor.waits_for_others,
        )


STATUS_NS = 5 * NANOSECONDS
EXTEND_S = 15.0  # evaluated again each second


class Service:
    """Reports to systemd, at each tick of the loop. Does nothing without systemd."""

    def __init__(self, node: Node, services: ServiceThreads) -> None:
        """`services`: while one of these threads has failed, the hub is not reported as ready."""
        self._node = node
        self._signs = LifeSigns(node)
        self._services = services
        self._heartbeat = Heartbeat()
        self._ready = self._reloads = False
        self._status_ns = now_ns()
        self._predictions = 0

    def worker_is_ready(self) -> None:
        """Report READY once a worker is ready and all threads run, even if no camera can be reached."""
        if self._services.failed:
            return
        if not self._ready:
            systemd.ready(self._text(0.0))
        self._ready = True

    def reload_begins(self) -> None:
        """Report that the config is read again. Before the first READY, systemd must not take its end for one."""
        self._reloads = self._ready
        if self._reloads:
            systemd.reloading()

    def reload_ends(self) -> None:
        """Report that the config was applied, or refused."""
        if self._reloads:
            systemd.ready()
        self._reloads = False

    def tick(self, now: int) -> None:
        """Report once a second."""
        worker = self._signs.of_workers()
        if self._ready and self._heartbeat.beats(self._signs.of_cameras(), worker, now):
            systemd.watchdog()
        if not self._ready and worker.may_be_starting(now):
            systemd.extend_timeout(EXTEND_S)
        if now - self._status_ns >= STATUS_NS or not self._ready:
            self._report_status(now)

    def _report_status(self, now: int) -> None:
        predictions = self._node.predictions
        fps = (predictions - self._predictions) * NANOSECONDS / max(1, now - self._status_ns)
        self._status_ns, self._predictions = now, predictions
        systemd.status(self._text(fps))

    def _text(self, fps: float) -> str:
        failed = self._services.failed
        services = f", failed: {', '.join(failed)}" if failed else ""
        return f"{fps:.1f} fps, {self._node.in_one_line()}{services}"
