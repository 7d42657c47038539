"""Queues: the newest frames of each camera, and features that wait between two segments."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import zmq

from edged.messages import EnergyMethod, Features, Frame, PredictionEnergy, PredictionModel, Scores, WorkerHello

Pixels = bytes | zmq.Frame


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A frame with its pixels, as they came: they are passed on without a look.

    `lost`: why the worker that had it before did not answer; it has no third chance.
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
        """When the oldest of its frames was captured."""
        return self._frames[0].frame.captured_ns

    def add(self, held: Held, now_ns: int, keep: int | None) -> list[Held]:
        """Take a frame in; the ones that it supersedes, where only `keep` may stay."""
        if not self._frames:
            self.waiting_since_ns = now_ns
        self._frames.append(held)
        return self._beyond(keep)

    def put_back(self, held: Held, keep: int | None) -> list[Held]:
        """A frame that was taken comes back, before all newer ones; the oldest, where only `keep` may stay."""
        if not self._frames:
            self.waiting_since_ns = held.frame.captured_ns
        insort(self._frames, held, key=lambda each: each.frame.captured_ns)
        return self._beyond(keep)

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

    def _beyond(self, keep: int | None) -> list[Held]:
        oldest = []
        while keep is not None and len(self._frames) > keep:
            oldest.append(self._frames.popleft())
        return oldest


StageResults = Sequence["StageResult"]


@dataclass(frozen=True, slots=True, eq=False)
class StageResult:
    """Who it was, and what it has answered."""

    hello: WorkerHello
    answer: Scores | Features


def seconds_of(legs: StageResults) -> tuple[float, float, float]:
    """Upload, forward pass and download, on all devices together."""
    answers = [leg.answer for leg in legs]
    upload_s = sum(answer.upload_s for answer in answers)
    forward_s = sum(answer.forward_s for answer in answers)
    return upload_s, forward_s, sum(answer.download_s for answer in answers)


def model_of(legs: StageResults) -> PredictionModel:
    """Which model has answered, on what: devices in their order, a precision that all have but once."""
    hellos = [leg.hello for leg in legs]
    precisions = [hello.precision for hello in hellos]
    return PredictionModel(
        name=hellos[-1].model.name,
        sha256=hellos[-1].model.sha256,
        precision="+".join(precisions if len(set(precisions)) > 1 else precisions[:1]),
        device="+".join(hello.device for hello in hellos),
        worker="+".join(hello.worker for hello in hellos),
        random_weights=hellos[-1].model.random_weights,
    )


def energy_of(legs: StageResults, frames: int) -> PredictionEnergy:
    """What one of so many frames has cost on all devices; nothing is known where one of them knows nothing."""
    joules = [leg.answer.joules for leg in legs]
    known = [each for each in joules if each is not None]
    rails = tuple(dict.fromkeys(rail for leg in legs for rail in leg.hello.attributed_rails or leg.answer.rails))
    if len(known) < len(joules):
        return PredictionEnergy(joules=None, method="none", rails=rails)
    return PredictionEnergy(joules=sum(known) / frames, method=_weakest(legs), rails=rails)


def _weakest(legs: StageResults) -> EnergyMethod:
    methods = {leg.hello.energy for leg in legs}
    order: tuple[EnergyMethod, ...] = ("none", "estimated", "measured")
    return next(method for method in order if method in methods)


@dataclass(frozen=True, slots=True, eq=False)
class PartialResult:
    """Frames that wait at a cut of the network, with what crosses there, as it came, and who had them."""

    frames: tuple[Held, ...]
    cut: str
    features: Pixels
    legs: tuple[StageResult, ...]


class StageQueue:
    """Those that wait, in the order in which they go on: what is nearest to its end first, then the oldest."""

    def __init__(self) -> None:
        self._passing: list[PartialResult] = []

    @property
    def frames(self) -> list[Held]:
        """All that wait."""
        return list(chain.from_iterable(passing.frames for passing in self._passing))

    @property
    def waiting(self) -> Sequence[PartialResult]:
        """In their order."""
        return self._passing

    def jobs_at(self, cut: str) -> int:
        """How many jobs are to follow for the workers that begin at `cut`."""
        return sum(passing.cut == cut for passing in self._passing)

    def add(self, passing: PartialResult) -> None:
        """One more."""
        self._passing.append(passing)
        self._passing.sort(key=lambda each: -len(each.legs))  # stable

    def remove(self, passing: PartialResult) -> None:
        """It goes on."""
        self._passing.remove(passing)

    def take(self, where: Callable[[PartialResult], bool]) -> Iterable[Held]:
        """Remove all that are so; their frames."""
        if not self._passing:
            return ()
        gone = [passing for passing in self._passing if where(passing)]
        self._passing = [passing for passing in self._passing if passing not in gone]
        return chain.from_iterable(passing.frames for passing in gone)
