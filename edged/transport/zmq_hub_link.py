"""A camera's or worker's end of the link to a hub on another host, over ZeroMQ; it reconnects by itself."""

import logging
import math
import time
from collections.abc import Sequence

import zmq

from edged.clock import now_ns, seconds_since
from edged.messages import ClockRequest, LinkMessage, encode
from edged.system.systemd import SystemdUnit
from edged.transport.address import is_ipc
from edged.transport.client_socket import Curve, Handshakes, by_the_kernel, unconnected
from edged.transport.unix_connection import LARGEST_BYTES

REFUSED_S = 1.0  # seconds between two attempts while the hub rejects us
ROOM_S = 0.05  # seconds until a hub that accepted us can receive a hello: libzmq's threads must synchronise first
ASK_S = 1.0  # seconds between two requests for the time of a hub on another host
SILENT_S = 2.5  # seconds without an answer after which a connection counts as dead
QUEUED = 64  # messages of the hub

log = logging.getLogger("edged.link")


class ZmqHubLink:
    """A DEALER socket. Messages for an absent hub are not queued: they are refused.

    `same_host`: whether the hub is on this host (ipc), and uses the same clock.

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
        buffered: int,
        linger_s: float,
        curve: Curve | None,
    ) -> None:
        """See `open_hub_link`."""
        self._peer = peer
        self._address = address
        self.same_host = is_ipc(address)
        self._queued = queued
        self._buffered = -1 if self.same_host else buffered
        self._linger_ms = round(1000 * linger_s)
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
