"""Peers that the view disconnected or refused: counted, and logged without a flood."""

import logging
from collections import Counter
from typing import Literal, get_args

log = logging.getLogger("edged.view")

Reason = Literal["slow", "silent", "stalled", "too_many", "malformed", "not_tls", "wrong_password", "guessing"]

TEXTS: dict[Reason, str] = {
    "slow": "disconnected: it did not finish its request in time",
    "silent": "disconnected: it sent no request",
    "stalled": "disconnected: it does not read the response",
    "too_many": "disconnected to make room for a new connection: no address has more",
    "malformed": "disconnected: it sent an invalid HTTP request",
    "not_tls": "disconnected: its TLS handshake failed, or it has no certificate of --client-ca",
    "wrong_password": "sent a wrong password",
    "guessing": "sent too many wrong passwords: refused for a while",
}
QUIET: frozenset[Reason] = frozenset({"silent"})  # browsers connect in advance
AGAIN_S = 60.0  # seconds between two lines for the same address and reason
LINES = 5  # at most, each time that lines are written
MOST_HOSTS = 100


class Disconnections:
    """Counts disconnections by reason, and collects those that are not logged yet."""

    def __init__(self) -> None:
        self.totals: Counter[Reason] = Counter(dict.fromkeys(get_args(Reason), 0))
        self._unlogged: Counter[tuple[Reason, str]] = Counter()
        self._logged_s: dict[tuple[Reason, str], float] = {}

    def add(self, reason: Reason, host: str) -> None:
        """Count one of the address `host`."""
        self.totals[reason] += 1
        key = (reason, host)
        is_known = key in self._unlogged or len(self._unlogged) < MOST_HOSTS
        self._unlogged[key if is_known else (reason, "other addresses")] += 1

    def write_log(self, now_s: float) -> None:
        """Log new ones: a line for each address and reason, with its count, once a minute."""
        self._logged_s = {key: at for key, at in self._logged_s.items() if now_s - at < AGAIN_S}
        due = [key for key in self._unlogged if key not in self._logged_s][:LINES]
        for reason, host in due:
            self._logged_s[reason, host] = now_s
            self._write_line(reason, host, self._unlogged.pop((reason, host)))

    def close(self) -> None:
        """Log all that remain."""
        for (reason, host), times in self._unlogged.items():
            self._write_line(reason, host, times)
        self._unlogged.clear()

    @staticmethod
    def _write_line(reason: Reason, host: str, times: int) -> None:
        level = logging.INFO if reason in QUIET else logging.WARNING
        log.log(level, "view: %s: %s%s", host, TEXTS[reason], f" ({times} times)" if times > 1 else "")
