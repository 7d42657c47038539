"""The only place where frames wait."""

from collections import deque
from dataclasses import dataclass

import zmq

from edged.messages import Frame

Pixels = bytes | zmq.Frame


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A frame with its pixels, as they came: they are passed on without a look."""

    frame: Frame
    pixels: Pixels


class Slot:
    """The newest frames of one camera, oldest first.

    `waiting_since_ns` is the moment from which the camera has waited for its turn: a newer frame in the place
    of an older one does not move it, so that a fast camera does not lose its turn to a slow one.
    """

    def __init__(self) -> None:
        self.waiting_since_ns = 0
        self._frames: deque[Held] = deque()

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, held: Held, now_ns: int, keep: int | None) -> list[Held]:
        """Take a frame in; the ones that it supersedes, where only `keep` may stay."""
        if not self._frames:
            self.waiting_since_ns = now_ns
        self._frames.append(held)
        superseded = []
        while keep is not None and len(self._frames) > keep:
            superseded.append(self._frames.popleft())
        return superseded

    def take(self, now_ns: int) -> Held:
        """The oldest frame, for a worker: the camera goes to the end of the queue."""
        self.waiting_since_ns = now_ns
        return self._frames.popleft()

    def older_than(self, captured_ns: int) -> list[Held]:
        """Remove and return the frames captured before `captured_ns`."""
        old = []
        while self._frames and self._frames[0].frame.captured_ns < captured_ns:
            old.append(self._frames.popleft())
        return old

    def clear(self) -> list[Held]:
        """Remove and return every frame."""
        frames = list(self._frames)
        self._frames.clear()
        return frames
