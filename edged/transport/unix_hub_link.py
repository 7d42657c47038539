"""A camera's or worker's end of the link to the hub of this host that has started it; it reconnects by itself."""

import math
from collections.abc import Sequence
from time import monotonic

import zmq

from edged.messages import LinkMessage, encode
from edged.transport.address import path_of
from edged.transport.unix_connection import UnixConnection

RETRY_S = 0.1  # seconds between two attempts to connect
BEGUN_S = 0.05  # seconds for the rest of a large message: the process may wait for its next picture afterwards


class UnixHubLink:
    """A Unix socket. Messages for an absent hub are not queued: they are refused.

    After a reconnection the hub may be another process, or have given us up: it must get a new hello
    (`has_joined`).
    """

    same_host = True  # the hub uses the same clock

    def __init__(self, peer: str, address: str, *, queued: int, linger_s: float) -> None:
        """`peer`: our name, `camera/NAME` or `worker/NAME`; `queued`: messages that may wait to be sent."""
        self._peer = peer
        self._path = path_of(address)
        self._queued = queued
        self._linger_s = linger_s
        self._is_new = False  # connected, and not greeted yet
        self._poller = zmq.Poller()  # what else is watched may be a socket of libzmq
        self._connection = self._connect()

    def watch(self, descriptor: int | zmq.Socket[bytes]) -> None:
        """Make `wait` return for this descriptor or socket too."""
        self._poller.register(descriptor, zmq.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor, before it is closed."""
        self._poller.unregister(descriptor)

    def wait(self, within_s: float) -> bool:
        """Wait until a message or a change of the connection comes, or a watched descriptor is readable."""
        end_s = monotonic() + within_s
        while not self._is_new and not self._wait_once(max(0.0, end_s - monotonic())):
            if monotonic() >= end_s:
                return False
        return True

    def has_joined(self) -> bool:
        """Return True once after a hub has accepted us: it must then get a hello."""
        is_new, self._is_new = self._is_new, False
        return is_new

    def send(self, message: LinkMessage, payloads: Sequence[bytes | memoryview] = ()) -> bool:
        """Return whether there was a hub, and room; otherwise the message is not sent."""
        if self._connection is None or not self._connection.send([encode(message), *payloads]):
            return False
        if self._connection.unsent:
            self._connection.flush(BEGUN_S)
        return True

    def has_room(self, within_s: float = 0.0) -> bool:
        """Wait for room for so long, and return whether the next message can be sent."""
        return self._connection is not None and self._connection.has_room(within_s)

    def receive(self) -> list[memoryview] | None:
        """Return the parts of the hub's next message, or None if there is none now. Raises MessageError."""
        if self._connection is None:
            return None
        try:
            return self._connection.receive()
        except ConnectionError:
            self._disconnect(self._connection)
            return None

    def stop_requests(self) -> None:
        """Do nothing: the time of a hub on this host is not requested."""

    def close(self) -> None:
        """Wait shortly for messages to be sent, and close."""
        if self._connection:
            self._connection.close(self._linger_s)

    def _wait_once(self, within_s: float) -> bool:
        """Wait for what `wait` does, or until it is time to connect again or there is room for what is unsent."""
        if self._connection is None:
            is_ready = self._poll(min(within_s, RETRY_S))
            self._connection = self._connect()
            return is_ready
        if not self._connection.unsent:
            return self._poll(within_s)
        self._poller.modify(self._connection.fileno(), zmq.POLLIN | zmq.POLLOUT)
        is_ready = self._poll(within_s)
        self._poller.modify(self._connection.fileno(), zmq.POLLIN)
        self._connection.flush()
        return is_ready

    def _poll(self, within_s: float) -> bool:
        return bool(self._poller.poll(math.ceil(1000 * within_s)))

    def _connect(self) -> UnixConnection | None:
        try:
            connection = UnixConnection.to(self._path, self._queued)
        except OSError:  # no hub, or one that is busy
            return None
        connection.send([self._peer.encode()])
        self._poller.register(connection.fileno(), zmq.POLLIN)
        self._is_new = True
        return connection

    def _disconnect(self, connection: UnixConnection) -> None:
        self._poller.unregister(connection.fileno())
        connection.close()
        self._connection, self._is_new = None, False
