"""Peers that were turned away: each is counted, and told without a flood."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import Counter

from edged.clock import NANOSECONDS
from edged.hub.stream.notice import Notice

REASONS = {  # the label `reason`, and what to say
    "unknown_key": "its key is not allowed there (see security)",
    "no_key": "it speaks without a key, or with one to a hub that has none",
    "wrong_server_key": "it takes this hub for another one: give it this hub's .pub as its server key",
    "not_zeromq": "what it sends is not ZeroMQ's protocol (ZMTP 3)",
    "at_once": "its connection ended as soon as it had begun: it left, or its first message was refused",
    "silent": "it connected and said nothing",
    "malformed": "its message is no message of edged, or is too large",
    "not_expected": "no camera or worker of the config has that name and a key for it (see security)",
    "too_much": "it sends more than a peer of this endpoint has to say",
    "no_certificate": "it shows no certificate that one of metrics.tls.client_ca has signed",
    "not_tls": "it does not speak TLS as this endpoint does, or does not trust its certificate",
    "slow": "its request took too long",
    "stalled": "it has stopped reading",
    "too_many": "there are as many connections as this endpoint takes",
}
AGAIN_NS = 60 * NANOSECONDS  # the same reason and host are told so often
A_TURN = 5  # lines
MOST_HOSTS = 100


@dataclass(frozen=True, slots=True)
class Rejection:
    """Who was turned away, where and why. `host`: without the port, which is another one at each attempt."""

    endpoint: str
    reason: str
    host: str
    detail: str = ""


class Rejections:
    """Filled by any thread, told by the hub's."""

    def __init__(self, counter: Counter, endpoints: Iterable[str] = ()) -> None:
        """`endpoints`: where nobody has been turned away yet, which is told too."""
        for endpoint in endpoints:
            for reason in REASONS:
                counter.labels(endpoint, reason)
        self._counter = counter
        self._new: deque[Rejection] = deque(maxlen=10_000)
        self._untold: dict[Rejection, int] = {}
        self._told_ns: dict[Rejection, int] = {}

    def add(self, endpoint: str, reason: str, host: str, detail: str = "") -> None:
        """Count one; `detail` goes into the log."""
        self._counter.labels(endpoint, reason).inc()
        self._new.append(Rejection(endpoint, reason, host, detail))

    def notices(self, now_ns: int) -> list[Notice]:
        """What is to be told now: a few lines, each with the number of times since it was told last."""
        while self._new:
            rejection = self._new.popleft()
            if len(self._untold) >= MOST_HOSTS and rejection not in self._untold:
                rejection = Rejection(rejection.endpoint, rejection.reason, "other addresses")
            self._untold[rejection] = self._untold.get(rejection, 0) + 1
        self._told_ns = {each: at for each, at in self._told_ns.items() if now_ns - at < AGAIN_NS}
        due = [each for each in self._untold if each not in self._told_ns][:A_TURN]
        for each in due:
            self._told_ns[each] = now_ns
        return [_notice(each, self._untold.pop(each)) for each in due]


def _notice(rejection: Rejection, count: int) -> Notice:
    times = f" ({count} times)" if count > 1 else ""
    detail = f": {rejection.detail}" if rejection.detail else ""
    what = f"{rejection.endpoint}: a peer at {rejection.host} was turned away{times}"
    return Notice("peer_rejected", f"{what}: {REASONS[rejection.reason]}{detail}", reason=rejection.reason)
