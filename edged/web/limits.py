"""Limits of connections to an HTTP server, and which connection is closed when one is exceeded.

No peer can exclude others: a connection that does not send its request, or does not read the response, is closed
after seconds; and if all places are taken, a new one gets a place from the address that has most.
"""

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

FREE = 5  # wrong passwords before the first pause
FIRST_S, LONGEST_S = 1.0, 60.0  # seconds of a pause; each is twice the last one
FORGOTTEN_S = 900.0  # seconds after the last wrong one
MOST_HOSTS = 1024


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What one peer, and all of them together, may take of the server."""

    connections: int = 128  # at once
    connections_each: int = 64  # of one address: the rest is for others
    handshake_s: float = 5.0  # for TLS
    request_s: float = 5.0  # from its first byte, or from the connection's begin, to its last
    stalled_s: float = 5.0  # in which a peer reads nothing that is sent
    drain_s: float = 30.0  # in which all of it must be read
    look_s: float = 0.5  # between two checks of all connections
    viewers: int = 32  # streams of events at once; each takes some processor time ten times a second
    displaces: bool = True  # False: where all places are taken, a new connection waits in the kernel


class LimitedConnection(Protocol):
    """A connection, or a stream of events."""

    @property
    def host(self) -> str:
        """Return the address that it comes from; see `network_of`."""
        ...

    @property
    def rank(self) -> tuple[int, float]:
        """Return its rank: the lowest of an address loses its place first."""
        ...


G = TypeVar("G", bound=LimitedConnection)


def displaced_by(host: str, guests: Iterable[G], most: int, each: int) -> G | None:
    """Return which of `guests` loses its place to a new one from `host`; None if there is room.

    `most`: places in all; `each`: for one address.
    """
    guests = list(guests)
    counts = Counter(guest.host for guest in guests)
    if counts[host] < each and len(guests) < most:
        return None
    crowd = host if counts[host] >= each else counts.most_common(1)[0][0]
    return min((guest for guest in guests if guest.host == crowd), key=lambda guest: guest.rank)


def network_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or an IPv6 /64, which one peer can have for itself."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


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
