"""Slow down guessing: each address may send a few wrong passwords, then must wait ever longer."""

from collections import OrderedDict
from dataclasses import dataclass

FREE = 5  # wrong passwords before the first pause
FIRST_S, LONGEST_S = 1.0, 60.0  # seconds of a pause; each is twice the last one
FORGOTTEN_S = 900.0  # seconds after the last wrong one
MOST_HOSTS = 1024


@dataclass(slots=True)
class _Wrong:
    times: int
    last_s: float
    until_s: float


class PasswordThrottle:
    """Remembers wrong passwords of at most `MOST_HOSTS` addresses. Seconds are monotonic."""

    def __init__(self) -> None:
        self._wrong: OrderedDict[str, _Wrong] = OrderedDict()  # the latest last

    def pause_s(self, who: str, now_s: float) -> float:
        """Return how long passwords of `who` are rejected unchecked; 0: they are checked."""
        known = self._wrong.get(who)
        return max(0.0, known.until_s - now_s) if known else 0.0

    def record_failure(self, who: str, now_s: float) -> None:
        """Count a wrong password of `who`."""
        known = self._wrong.pop(who, None)
        times = 1 if known is None or now_s - known.last_s > FORGOTTEN_S else known.times + 1
        pause_s = min(LONGEST_S, FIRST_S * 2.0 ** min(times - FREE, 16)) if times >= FREE else 0.0
        self._wrong[who] = _Wrong(times, now_s, now_s + pause_s)
        if len(self._wrong) > MOST_HOSTS:
            self._wrong.popitem(last=False)

    def forgive(self, who: str) -> None:
        """Forget the wrong passwords of `who`."""
        self._wrong.pop(who, None)
