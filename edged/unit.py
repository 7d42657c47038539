"""What systemd hears of a camera or worker that is a service of its own, on another host than its hub.

It is ready once its hub has let it in, and lives while it comes round to listening: no driver that hangs lets it.
"""

import math
import time

from edged import systemd

EVERY_S = 1.0
EXTEND_S = 30.0  # asked for anew each second
BEATS = 3  # in the time that the watchdog gives


class Unit:
    """Nothing of this is told by the children of a hub, which speaks for them."""

    def __init__(self) -> None:
        self._is_service = systemd.is_started_by_systemd()
        self._is_ready = False
        self._next_s = 0.0

    @property
    def within_s(self) -> float:
        """`turns` is to be called so often."""
        if not self._is_service:
            return math.inf
        watchdog_s = systemd.watchdog_interval_s() or math.inf
        return watchdog_s / BEATS if self._is_ready else EVERY_S

    def joined(self, hub: str) -> None:
        """The hub at this address has let us in."""
        if self._is_service:
            systemd.ready(f"serves the hub at {hub}")
        self._is_ready = True

    def turns(self) -> None:
        """The process listens once more."""
        if not self._is_service or time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + EVERY_S
        if self._is_ready:
            systemd.watchdog()
        else:
            systemd.status("waits for its hub")
            systemd.extend_timeout(EXTEND_S)
