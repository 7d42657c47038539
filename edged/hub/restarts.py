"""How often, and how soon, a child that has died is started again."""

from collections import deque

from edged.backoff import Backoff

HEALTHY_S = 10.0

LOSSES = 3
WITHIN_S = 60.0


class Pauses:
    """Before each restart of a child, twice as long as before the last, until it has lived for `HEALTHY_S`."""

    def __init__(self) -> None:
        self._backoff = Backoff(chance=lambda: 0.0)  # there are few of them

    def wait_s(self, lived_s: float) -> float:
        """Seconds to wait after the death of a child that has lived so long."""
        if lived_s >= HEALTHY_S:
            self._backoff.succeeded()
        return self._backoff.failed()


class Budget:
    """Used up after `LOSSES` losses within `WITHIN_S`."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=LOSSES)

    def lost(self, now_s: float) -> bool:
        """One more loss; whether that was one too many."""
        self._losses.append(now_s)
        return len(self._losses) == LOSSES and now_s - self._losses[0] <= WITHIN_S
