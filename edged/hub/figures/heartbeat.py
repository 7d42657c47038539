"""Whether the pipeline lives: what systemd's watchdog is fed by. No clock feeds it, only what has happened.

It lives where, since the last beat, both are so:
- frames: one more was captured, or none is due: each camera has ended, waits for room, or is known to be down;
- answers: one more job was answered, or none is due: no frame waits, or the worker is known to be starting.

Known is what a child has said itself, or its own end; what the hub concludes from a child's silence is not. So a
hub whose link, router or slots have stuck is found out, though its loop turns and it starts its children again.
Whether an answer became a prediction does not matter: no restart helps a model that is too slow or gives NaN.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from edged.clock import NANOSECONDS

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
        """Whether it is believed that a worker that is not ready will be."""
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
