"""Queues: the newest frames of each camera, and features that wait between two segments."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from edged.messages import Features, Frame, Scores, WorkerHello

Pixels = bytes | memoryview


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A frame with its pixels as received: the hub never reads them.

    `lost`: why the worker that had it before did not answer; it is not tried a third time.
    """

    frame: Frame
    pixels: Pixels
    lost: str = ""


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

    @property
    def oldest_ns(self) -> int:
        """Return when the oldest of its frames was captured."""
        return self._frames[0].frame.captured_ns

    def add(self, held: Held, now_ns: int, keep: int | None) -> list[Held]:
        """Add a frame; return the frames that it supersedes if only `keep` may stay."""
        if not self._frames:
            self.waiting_since_ns = now_ns
        self._frames.append(held)
        return self._beyond(keep)

    def put_back(self, held: Held, keep: int | None) -> list[Held]:
        """Put a taken frame back, before all newer ones; return the oldest if only `keep` may stay."""
        if not self._frames:
            self.waiting_since_ns = held.frame.captured_ns
        insort(self._frames, held, key=lambda each: each.frame.captured_ns)
        return self._beyond(keep)

    def take(self, now_ns: int) -> Held:
        """Take the oldest frame for a worker; the camera moves to the end of the queue."""
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

    def _beyond(self, keep: int | None) -> list[Held]:
        oldest = []
        while keep is not None and len(self._frames) > keep:
            oldest.append(self._frames.popleft())
        return oldest


StageResults = Sequence["StageResult"]


@dataclass(frozen=True, slots=True, eq=False)
class StageResult:
    """The worker of a stage, and its answer."""

    hello: WorkerHello
    answer: Scores | Features


@dataclass(frozen=True, slots=True, eq=False)
class PartialResult:
    """Frames that wait at a cut, with the features that cross it, as received, and their stages so far."""

    frames: tuple[Held, ...]
    cut: str
    features: Pixels
    legs: tuple[StageResult, ...]


class StageQueue:
    """Partial results that wait at a cut (`waiting`): those nearest to the end first, then the oldest."""

    def __init__(self) -> None:
        self.waiting: list[PartialResult] = []

    @property
    def frames(self) -> list[Held]:
        """Return all frames that wait."""
        return list(chain.from_iterable(passing.frames for passing in self.waiting))

    def jobs_at(self, cut: str) -> int:
        """Return how many jobs wait for the workers that begin at `cut`."""
        return sum(passing.cut == cut for passing in self.waiting)

    def add(self, passing: PartialResult) -> None:
        """Insert a partial result: those that have passed more stages come first, then the older ones."""
        self.waiting.append(passing)
        self.waiting.sort(key=lambda each: -len(each.legs))  # stable

    def remove(self, passing: PartialResult) -> None:
        """Remove one that was assigned."""
        self.waiting.remove(passing)

    def take(self, where: Callable[[PartialResult], bool]) -> Iterable[Held]:
        """Remove all for which `where` holds; return their frames."""
        if not self.waiting:
            return ()
        gone = [passing for passing in self.waiting if where(passing)]
        self.waiting = [passing for passing in self.waiting if passing not in gone]
        return chain.from_iterable(passing.frames for passing in gone)
