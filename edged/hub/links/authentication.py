"""Authentication of peers by ZAP (rfc.zeromq.org/spec/27), and the count and log of those that were rejected.

zmq.auth does the same on a thread of its own; here it is a few lines on the guard's thread, beside the events that
belong to them. A socket with a ZAP domain and ZAP_ENFORCE_DOMAIN accepts no peer while no answer is given here.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import zmq
from prometheus_client import Counter
from zmq.utils import z85

from edged.clock import NANOSECONDS
from edged.hub.events import HubEvent
from edged.hub.links.handshakes import HandshakePace

REASONS = {  # the label `reason`, and the text for people
    "unknown_key": "its key is not allowed there (see security)",
    "no_key": "it uses no key, or it uses one with a hub that has none",
    "wrong_server_key": "it takes this hub for another one: give it this hub's .pub as its server key",
    "not_zeromq": "what it sends is not ZeroMQ's protocol (ZMTP 3)",
    "immediate_disconnect": "the connection ended at once: the peer left, or its first message was refused",
    "silent": "it connected and sent nothing, or subscribed to nothing while others waited",
    "malformed": "its message is invalid, or too large",
    "not_expected": "no camera or worker of the config has that name and a key for it (see security)",
    "too_much": "it sends more than a peer of this endpoint may",
    "no_certificate": "it presents no certificate that metrics.tls.client_ca has signed",
    "not_tls": "its TLS handshake failed, or it does not trust this endpoint's certificate",
    "slow": "its request took too long",
    "stalled": "it has stopped reading",
    "too_many": "there are as many connections as this endpoint takes",
}
AGAIN_NS = 60 * NANOSECONDS  # between two reports of the same reason and host
A_TURN = 5  # log lines per call
MOST_HOSTS = 100


@dataclass(frozen=True, slots=True)
class Rejection:
    """A peer that was rejected: where and why. `host`: without the port, which differs at each attempt."""

    endpoint: str
    reason: str
    host: str
    detail: str = ""


class Rejections:
    """Counts rejections of any thread; the hub's thread reports them."""

    def __init__(self, counter: Counter, endpoints: Iterable[str] = ()) -> None:
        """`endpoints`: those that are shown in the metrics from the start, with 0."""
        for endpoint in endpoints:
            for reason in REASONS:
                counter.labels(endpoint, reason)
        self._counter = counter
        self._new: deque[Rejection] = deque(maxlen=10_000)
        self._unreported: dict[Rejection, int] = {}
        self._reported_ns: dict[Rejection, int] = {}

    def add(self, endpoint: str, reason: str, host: str, detail: str = "") -> None:
        """Count one; `detail` is added to the log line."""
        self._counter.labels(endpoint, reason).inc()
        self._new.append(Rejection(endpoint, reason, host, detail))

    def notices(self, now_ns: int) -> list[HubEvent]:
        """Return the events to report now, each with the number of times since its last report."""
        while self._new:
            rejection = self._new.popleft()
            if len(self._unreported) >= MOST_HOSTS and rejection not in self._unreported:
                rejection = Rejection(rejection.endpoint, rejection.reason, "other addresses")
            self._unreported[rejection] = self._unreported.get(rejection, 0) + 1
        self._reported_ns = {each: at for each, at in self._reported_ns.items() if now_ns - at < AGAIN_NS}
        due = [each for each in self._unreported if each not in self._reported_ns][:A_TURN]
        for each in due:
            self._reported_ns[each] = now_ns
        return [_notice(each, self._unreported.pop(each)) for each in due]


def _notice(rejection: Rejection, count: int) -> HubEvent:
    times = f" ({count} times)" if count > 1 else ""
    detail = f": {rejection.detail}" if rejection.detail else ""
    what = f"{rejection.endpoint}: a peer at {rejection.host} was rejected{times}"
    return HubEvent("peer_rejected", f"{what}: {REASONS[rejection.reason]}{detail}", reason=rejection.reason)


ADDRESS = "inproc://zeromq.zap.01"
VERSION = b"1.0"


class Zap:
    """Answers libzmq's authentication requests. A domain is the name of an endpoint in the config."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], rejections: Rejections) -> None:
        self.socket = context.socket(zmq.ROUTER)  # an interrupted REP could not continue
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.bind(ADDRESS)
        self.allowed: Mapping[str, Mapping[bytes, str]] = {}  # name by domain and key; replaced as a whole
        self.encrypted: frozenset[str] = frozenset()  # the domains that require a key
        self.paces: Mapping[str, HandshakePace] = {}  # by domain; those without one admit everybody at once
        self._rejections = rejections

    def serve(self) -> None:
        """Answer all requests that may be answered now."""
        while self.socket.poll(0):
            peer, _, version, request, domain, address, _, mechanism, *credentials = self.socket.recv_multipart()
            name = self._name(domain.decode(), address.decode(), mechanism, credentials)
            allowed = name is not None and version == VERSION
            status = (b"200", b"OK") if allowed else (b"400", b"not in security")
            answer = [peer, b"", VERSION, request, *status, (name or "").encode(), b""]
            if allowed and (pace := self.paces.get(domain.decode())):
                pace.add(answer)
            else:
                self.socket.send_multipart(answer)
        for pace in self.paces.values():
            while due := pace.due():
                self.socket.send_multipart(due)

    @property
    def due_s(self) -> float:
        """Return the seconds until it must serve again, whether or not there are new requests."""
        return min((pace.due_s() for pace in self.paces.values()), default=math.inf)

    def _name(self, domain: str, address: str, mechanism: bytes, credentials: list[bytes]) -> str | None:
        """Return the name of the peer, or None if it must be rejected."""
        if mechanism == b"NULL" and domain not in self.encrypted:
            return ""  # any peer
        key = z85.encode(credentials[0]) if mechanism == b"CURVE" and credentials else b""
        name = self.allowed.get(domain, {}).get(key)
        if name is None:
            self._rejections.add(domain, "unknown_key", address, key.decode())
        return name
