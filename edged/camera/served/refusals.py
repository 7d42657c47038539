"""Requests that are refused: each is counted, and each kind logged once."""

import logging
from collections import Counter

from edged.errors import MessageError

LOGGED = 50  # kinds of mistakes

log = logging.getLogger(__name__)


class RefusedRequestError(MessageError):
    """A request that cannot be answered. `reason`: one of `metrics.catalog.REFUSED`."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class RequestRefusals:
    """Counts the mistakes in requests at an address. `counts`: by reason."""

    def __init__(self, address: str) -> None:
        self.counts: Counter[str] = Counter()
        self._address = address
        self._logged: set[str] = set()

    def add(self, error: RefusedRequestError) -> None:
        """Count a mistake; log it if it is a new one."""
        self.counts[error.reason] += 1
        if str(error) not in self._logged and len(self._logged) < LOGGED:
            self._logged.add(str(error))
            log.warning("a request at %s is refused: %s", self._address, error)
