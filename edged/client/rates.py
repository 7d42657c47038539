"""How fast sums grow."""

from collections import deque
from collections.abc import Mapping
from typing import Generic, TypeVar

OVER_S = 10.0

Key = TypeVar("Key")


class Rates(Generic[Key]):
    """The sums of the last `OVER_S` seconds, each with the time at which it was told."""

    def __init__(self) -> None:
        self._told: deque[tuple[float, Mapping[Key, float]]] = deque()

    def take(self, now_s: float, sums: Mapping[Key, float]) -> None:
        """These are the sums now."""
        while self._told and self._told[0][0] < now_s - OVER_S:
            self._told.popleft()
        self._told.append((now_s, dict(sums)))

    def clear(self) -> None:
        """They are counted anew."""
        self._told.clear()

    def each_second(self) -> dict[Key, float]:
        """By how much each grows in a second; nothing before they were told twice."""
        if len(self._told) < 2:
            return {}
        (first_s, before), (last_s, sums) = self._told[0], self._told[-1]
        took_s = max(1e-3, last_s - first_s)
        return {key: max(0.0, total - before.get(key, 0.0)) / took_s for key, total in sums.items()}
