"""Recorded pictures at the rate at which they were recorded."""

import time
from collections.abc import Callable

from edged.clock import NANOSECONDS, nanoseconds, now_ns

Sleep = Callable[[int], None]


def sleep_ns(nanoseconds: int) -> None:
    """Do nothing for so long."""
    time.sleep(nanoseconds / NANOSECONDS)


class Pace:
    """Lets each picture out at its own time. One that comes late moves the later ones: they never hurry."""

    def __init__(self, now: Callable[[], int] = now_ns, sleep: Sleep = sleep_ns) -> None:
        self._now = now
        self._sleep = sleep
        self._start_ns: int | None = None

    def wait_until(self, at_s: float) -> None:
        """Return `at_s` seconds after the picture at 0 s did, or at once where that has passed."""
        at_ns = nanoseconds(at_s)
        now = self._now()
        start = now - at_ns if self._start_ns is None else self._start_ns
        early = start + at_ns - now
        if early > 0:
            self._sleep(early)
        self._start_ns = start - min(early, 0)
