"""Compute how long to wait before the next attempt."""

from collections.abc import Callable
from random import SystemRandom

FIRST_S = 0.5
LONGEST_S = 10.0
JITTER = 0.25

# not the generator of the whole process, whose numbers a program with a seed expects for itself
CHANCE = SystemRandom()


class Backoff:
    """Doubles the wait after each failure, plus a random part, so that forty cameras do not connect at once."""

    def __init__(self, chance: Callable[[], float] = CHANCE.random, longest_s: float = LONGEST_S) -> None:
        """`chance`: 0 … 1. `longest_s`: limit of the wait, before chance adds at most a quarter."""
        self._chance = chance
        self._longest_s = longest_s
        self._next_s = FIRST_S

    def failed(self) -> float:
        """Count a failure, and return the seconds to wait."""
        wait_s = self._next_s * (1 + JITTER * self._chance())
        self._next_s = min(2 * self._next_s, self._longest_s)
        return wait_s

    def succeeded(self) -> None:
        """Start again from the shortest wait."""
        self._next_s = FIRST_S
