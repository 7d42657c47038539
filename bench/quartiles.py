"""Figures by the state of the machine: the middle of some values, and their middle half."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from edged.system.machine_state import LEFT_OUT

FEWEST = 3  # turns in a state, below which it has no figures


@dataclass(frozen=True)
class Quartiles:
    """Median, and the quartiles beside it, of `count` values."""

    low: float
    median: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Quartiles":
        """Raise ValueError where there are too few to have any."""
        if len(values) < FEWEST:
            raise ValueError(f"{len(values)} values are too few: {FEWEST} are required")
        low, middle, high = (float(each) for each in np.percentile(values, (25, 50, 75)))
        return cls(low, middle, high, len(values))

    def text(self, digits: int) -> str:
        """Return it as "median (low to high)"."""
        return f"{self.median:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


def states_of(states: Iterable[str]) -> list[str]:
    """Return the states of which there are turns enough: `two-core`, `two-core apart`, `one-core`."""
    counts = Counter(state for state in states if state not in LEFT_OUT)
    slow_last = sorted(state for state, count in counts.items() if count >= FEWEST)
    return sorted(slow_last, key=lambda state: state.partition(" ")[0], reverse=True)


def left_out(states: Iterable[str]) -> dict[str, int]:
    """Return how many turns were disturbed, and during how many the state changed."""
    counts = Counter(states)
    return {state: counts[state] for state in LEFT_OUT}
