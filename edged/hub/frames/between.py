"""Between two segments of a network: features that wait for a worker which goes on with them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from edged.hub.frames.leg import Leg
from edged.hub.frames.slot import Held, Pixels


@dataclass(frozen=True, slots=True, eq=False)
class Passing:
    """Frames that wait at a cut of the network, with what crosses there, as it came, and who had them."""

    frames: tuple[Held, ...]
    cut: str
    features: Pixels
    legs: tuple[Leg, ...]


class Between:
    """Those that wait, in the order in which they go on: what is nearest to its end first, then the oldest."""

    def __init__(self) -> None:
        self._passing: list[Passing] = []

    @property
    def frames(self) -> list[Held]:
        """All that wait."""
        return list(chain.from_iterable(passing.frames for passing in self._passing))

    @property
    def waiting(self) -> Sequence[Passing]:
        """In their order."""
        return self._passing

    def jobs_at(self, cut: str) -> int:
        """How many jobs are to follow for the workers that begin at `cut`."""
        return sum(passing.cut == cut for passing in self._passing)

    def add(self, passing: Passing) -> None:
        """One more."""
        self._passing.append(passing)
        self._passing.sort(key=lambda each: -len(each.legs))  # stable

    def remove(self, passing: Passing) -> None:
        """It goes on."""
        self._passing.remove(passing)

    def take(self, where: Callable[[Passing], bool]) -> Iterable[Held]:
        """Remove all that are so; their frames."""
        if not self._passing:
            return ()
        gone = [passing for passing in self._passing if where(passing)]
        self._passing = [passing for passing in self._passing if passing not in gone]
        return chain.from_iterable(passing.frames for passing in gone)
