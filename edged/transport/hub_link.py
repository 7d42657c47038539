"""A camera's or worker's end of the link to its hub, on this host or another; it reconnects by itself.

The clocks of a hub on another host are estimated from round trips of the link, as NTP does.
"""

import logging
import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import zmq

from edged.clock import NANOSECONDS, now_ns, seconds_since, wall_s
from edged.messages import ClockRequest, LinkMessage, encode
from edged.system.systemd import SystemdUnit
from edged.transport.address import is_ipc
from edged.transport.client_socket import Curve, Handshakes, by_the_kernel, unconnected

KEPT = 8  # round trips, of which the fastest counts (RFC 5905, section 10: the clock filter)
DRIFT = 100e-6  # largest drift between two quartz clocks

REFUSED_S = 1.0  # seconds between two attempts while the hub rejects us
ROOM_S = 0.05  # seconds until a hub that accepted us can receive a hello: libzmq's threads must synchronise first
ASK_S = 1.0  # seconds between two requests for the time of a hub on another host
SILENT_S = 2.5  # seconds without an answer after which a connection counts as dead
QUEUED = 64  # messages of the hub
LARGEST_BYTES = 1 << 30  # of a job's picture

log = logging.getLogger("edged.link")


@dataclass(frozen=True, slots=True)
class Sample:
    """One round trip, in nanoseconds: the offset to the hub's clock, its largest `error`, and the time `at`."""

    offset: int
    error: int
    wall_offset_s: float
    at: int

    def error_at(self, now: int) -> int:
        """Return the largest error at `now`; it grows with time, as clocks drift."""
        return self.error + round(DRIFT * max(0, now - self.at))


class HubClock:
    """Estimates the hub's clocks. Not needed on the hub's host, where CLOCK_MONOTONIC is the same."""

    def __init__(self, *, same_host: bool) -> None:
        self.same_host = same_host
        self._samples: deque[Sample] = deque(maxlen=KEPT)

    @property
    def is_known(self) -> bool:
        return self.same_host or bool(self._samples)

    def forget(self) -> None:
        """Forget all samples: the hub may be a new one."""
        self._samples.clear()

    def add_answer(self, sent_ns: int, hub_ns: int, hub_s: float, received_ns: int) -> None:
        """Add an answer: sent at `sent_ns` of our clock, `hub_ns` and `hub_s` by the hub's two clocks."""
        middle_ns = (sent_ns + received_ns) // 2
        wall_middle_s = wall_s() - (now_ns() - middle_ns) / NANOSECONDS
        error = (received_ns - sent_ns + 1) // 2
        self._samples.append(Sample(hub_ns - middle_ns, error, hub_s - wall_middle_s, received_ns))

    def offset_ns(self) -> tuple[int, int]:
        """Return the offset from our monotonic clock to the hub's, and its largest error; (0, 0) if unknown."""
        if self.same_host or not self._samples:
            return 0, 0
        best, error = self._best()
        return best.offset, error

    def to_hub_time(self, at_ns: int, at_s: float) -> tuple[int, float, int]:
        """Convert a moment of our two clocks to the hub's; also return the largest error in nanoseconds."""
        if self.same_host:
            return at_ns, at_s, 0
        best, error = self._best()
        return max(0, at_ns + best.offset), at_s + best.wall_offset_s, error

    def _best(self) -> tuple[Sample, int]:
        """Return the round trip with the least error now, and that error."""
        now = now_ns()
        best = min(self._samples, key=lambda sample: sample.error_at(now))
        return best, best.error_at(now)


class HubLink:
    """A DEALER socket. Messages for an absent hub are not queued: they are refused.

    `same_host`: whether the hub is on this host, and uses the same clock.

    After a reconnection the hub may be another process, or have given us up: it must get a new hello
    (`has_joined`).

    The link requests the time of a hub on another host once a second, and reconnects if it does not answer: after
    several losses in a row the kernel waits longer and longer before it sends again, or gives up (RFC 6298, 5.5).
    """

    def __init__(
        self,
        peer: str,
        address: str,
        *,
        queued: int,
        buffered: int = -1,
        linger_ms: int = 0,
        curve: Curve | None = None,
    ) -> None:
        """`peer`: our name, `camera/NAME` or `worker/NAME`; `queued`: messages that may wait to be sent.

        `buffered`: bytes that may wait in the kernel after that; −1: the kernel's default.
        """
        self._peer = peer
        self._address = address
        self.same_host = is_ipc(address)
        self._queued = queued
        self._buffered = buffered
        self._linger_ms = linger_ms
        self._curve = curve
        self._refusal = self._logged_refusal = ""
        self._is_news = self._is_ungreeted = self._is_greeted = False
        self._makes_requests = not self.same_host
        self._asked_ns = 0
        self._unanswered_ns: int | None = None  # when the first request without an answer was sent
        self._unit = SystemdUnit()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._poller = zmq.Poller()
        self._connect()

    def watch(self, descriptor: int | zmq.Socket[bytes]) -> None:
        """Make `wait` return for this descriptor or socket too."""
        self._poller.register(descriptor, zmq.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor, before it is closed."""
        self._poller.unregister(descriptor)

    def wait(self, within_s: float) -> bool:
        """Wait until a message or a change of the connection comes, or a watched descriptor is readable."""
        self._unit.keep_alive()
        within_s = min(within_s, self._unit.within_s)
        if self._is_greeted and self._makes_requests:
            self._ask_if_due()
            within_s = min(within_s, self._until_due_s())
        if self._refusal or self._is_ungreeted:
            within_s = min(within_s, REFUSED_S if self._refusal else ROOM_S)
        ready = dict(self._poller.poll(math.ceil(1000 * within_s)))
        self._is_news = self._handshakes.socket in ready
        if self._socket not in ready and self._is_silent():
            log.info("hub %s: no answer within %g s; connecting again", self._address, SILENT_S)
            self._reconnect()
        return bool(ready)

    def has_joined(self) -> bool:
        """Return True once after a hub has accepted us: it must then get a hello."""
        if self._is_news or self._refusal:
            self._read_handshakes()
        if self._is_ungreeted and self.has_room():
            self._is_ungreeted, self._is_greeted, self._asked_ns = False, True, now_ns()
            self._unit.joined(self._address)
            return True
        return False

    def send(self, message: LinkMessage, payloads: Sequence[bytes | memoryview] = ()) -> bool:
        """Return whether there was a hub, and room; otherwise the message is not sent. Never blocks."""
        try:
            self._socket.send_multipart([encode(message), *payloads], zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def has_room(self, within_s: float = 0.0) -> bool:
        """Wait for room for so long, and return whether the next message can be sent."""
        return bool(self._socket.poll(math.ceil(1000 * within_s), zmq.POLLOUT))

    def receive(self) -> list[bytes] | None:
        """Return the parts of the hub's next message, or None if there is none now."""
        try:
            parts = self._socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        self._unanswered_ns = None
        return parts

    def stop_requests(self) -> None:
        """Request no more times: from now on the hub may leave us without an answer for long."""
        self._makes_requests, self._unanswered_ns = False, None

    def close(self) -> None:
        """Wait shortly for messages to be sent, and close."""
        self._disconnect()
        self._context.term()

    def _ask_if_due(self) -> None:
        if seconds_since(self._asked_ns) < ASK_S:
            return
        self._asked_ns = now_ns()
        if self.send(ClockRequest(sent_ns=self._asked_ns)) and self._unanswered_ns is None:
            self._unanswered_ns = self._asked_ns

    def _until_due_s(self) -> float:
        """Return the seconds until the next request, or until the hub counts as silent."""
        ask_s = ASK_S - seconds_since(self._asked_ns)
        silent_s = math.inf if self._unanswered_ns is None else SILENT_S - seconds_since(self._unanswered_ns)
        return max(0.0, min(ask_s, silent_s))

    def _is_silent(self) -> bool:
        return self._unanswered_ns is not None and seconds_since(self._unanswered_ns) >= SILENT_S

    def _read_handshakes(self) -> None:
        refusal = self._handshakes.failure()
        if self._handshakes.pop_success():
            self._refusal = self._logged_refusal = ""
            self._is_ungreeted = True
            self._unanswered_ns = None
            return
        self._refusal = refusal or self._refusal
        if self._refusal and time.monotonic() - self._connected_s >= REFUSED_S:
            # again after a rejection, which libzmq does not do; the reason is logged once
            if self._refusal != self._logged_refusal:
                log.warning("hub %s: %s", self._address, self._refusal)
            self._logged_refusal, self._refusal = self._refusal, ""
            self._reconnect()

    def _connect(self) -> None:
        self._connected_s = time.monotonic()
        socket = unconnected(self._context, zmq.DEALER, self._address, QUEUED, self._curve, by_the_kernel)
        socket.setsockopt(zmq.IDENTITY, self._peer.encode())
        socket.setsockopt(zmq.SNDHWM, self._queued)
        socket.setsockopt(zmq.SNDBUF, self._buffered)
        socket.setsockopt(zmq.LINGER, self._linger_ms)
        socket.setsockopt(zmq.IMMEDIATE, 1)
        socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
        self._handshakes = Handshakes(self._context, socket, self._curve)
        socket.connect(self._address)
        self._socket = socket
        self._poller.register(socket, zmq.POLLIN)
        self._poller.register(self._handshakes.socket, zmq.POLLIN)

    def _disconnect(self) -> None:
        self._poller.unregister(self._socket)
        self._poller.unregister(self._handshakes.socket)
        self._handshakes.close()
        self._socket.close()

    def _reconnect(self) -> None:
        self._is_greeted = self._is_ungreeted = False
        self._unanswered_ns = None
        self._disconnect()
        self._connect()
