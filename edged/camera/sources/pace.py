"""Play recorded pictures at the rate at which they were recorded."""

import time
from collections.abc import Callable

from edged.clock import NANOSECONDS, nanoseconds, now_ns

Sleep = Callable[[int], None]


def sleep_ns(nanoseconds: int) -> None:
    time.sleep(nanoseconds / NANOSECONDS)


class Pace:
    """Releases each picture at its time. A late picture delays the next ones: they never catch up in a burst."""

    def __init__(self, now: Callable[[], int] = now_ns, sleep: Sleep = sleep_ns) -> None:
        self._now = now
        self._sleep = sleep
        self._start_ns: int | None = None

    def wait_until(self, at_s: float) -> None:
        """Wait until `at_s` seconds after the picture at 0 s was released; return at once if that has passed."""
        at_ns = nanoseconds(at_s)
        now = self._now()
        start = now - at_ns if self._start_ns is None else self._start_ns
        early = start + at_ns - now
        if early > 0:
            self._sleep(early)
        self._start_ns = start - min(early, 0)
