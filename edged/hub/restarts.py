"""How often, and how soon, a child that has died is started again."""

from collections import deque

FIRST_S = 0.5
LONGEST_S = 10.0
HEALTHY_S = 10.0

LOSSES = 3
WITHIN_S = 60.0


class Backoff:
    """Twice as long after each failure, until the child has lived for `HEALTHY_S`."""

    def __init__(self) -> None:
        self._next_s = FIRST_S

    def wait_s(self, lived_s: float) -> float:
        """Seconds to wait after the death of a child that has lived so long."""
        if lived_s >= HEALTHY_S:
            self._next_s = FIRST_S
        wait_s = self._next_s
        self._next_s = min(2 * wait_s, LONGEST_S)
        return wait_s


class Budget:
    """Used up after `LOSSES` losses within `WITHIN_S`."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=LOSSES)

    def lost(self, now_s: float) -> bool:
        """One more loss; whether that was one too many."""
        self._losses.append(now_s)
        return len(self._losses) == LOSSES and now_s - self._losses[0] <= WITHIN_S
