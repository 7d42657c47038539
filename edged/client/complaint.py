"""A warning that somebody reads, once a minute at most."""

import logging
import time

EVERY_S = 60.0

log = logging.getLogger("edged.client")


class Complaint:
    """The first is told at once; what follows within a minute is counted, and told with the next."""

    def __init__(self) -> None:
        self._told_s: float | None = None
        self._untold = 0

    def say(self, what: str) -> None:
        """There is reason for it, once more."""
        now = time.monotonic()
        if self._told_s is not None and now - self._told_s < EVERY_S:
            self._untold += 1
            return
        log.warning("%s%s", what, f" ({self._untold} times more since the last warning)" if self._untold else "")
        self._told_s, self._untold = now, 0

    def settle(self) -> None:
        """It is well again: the next one is news."""
        self._told_s, self._untold = None, 0
