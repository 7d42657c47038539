"""How often, and how soon, a child that has died is started again."""

from collections import deque

from edged.backoff import Backoff

HEALTHY_S = 10.0


class Pauses:
    """None before the first restart of a child, then ever longer ones, until it has lived for `HEALTHY_S`."""

    def __init__(self) -> None:
        self._backoff = Backoff(chance=lambda: 0.0)  # there are few of them
        self._healthy = True

    def wait_s(self, lived_s: float) -> float:
        """Seconds to wait after the death of a child that has lived so long."""
        if lived_s >= HEALTHY_S:
            self._backoff.succeeded()
            self._healthy = True
        wait_s = 0.0 if self._healthy else self._backoff.failed()
        self._healthy = False
        return wait_s


class Budget:
    """Used up after so many losses within so many seconds."""

    def __init__(self, losses: int, within_s: float) -> None:
        self._losses: deque[float] = deque(maxlen=losses)
        self._most = losses
        self._within_s = within_s

    def lost(self, now_s: float) -> bool:
        """One more loss; whether that was one too many."""
        self._losses.append(now_s)
        return len(self._losses) == self._most and now_s - self._losses[0] <= self._within_s
