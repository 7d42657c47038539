"""A socket that others connect to: its connections, known by libzmq's monitor, and those that must go."""

import zmq
from zmq.utils.monitor import parse_monitor_message

from edged.clock import now_ns
from edged.hub.links.connection import Bounds, Connection
from edged.hub.links.rejections import Rejections

EVENTS = (
    zmq.EVENT_ACCEPTED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
)
OF_PROTOCOL_ERROR: dict[int, str] = {
    zmq.PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC: "wrong_server_key",
    zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH: "no_key",
}
TOLD = "told"  # by Zap, which knows the key
UNSEEN = "an address that had gone"


class Endpoint:
    """All but the making belongs to the guard's thread."""

    def __init__(
        self, name: str, port: int | None, bounds: Bounds, monitor: zmq.Socket[bytes], rejections: Rejections
    ) -> None:
        """`port`: None for ipc; `monitor`: the reading end."""
        self.name = name
        self.monitor = monitor
        self._port = port
        self._bounds = bounds
        self._rejections = rejections
        self._connections: dict[int, Connection] = {}  # by libzmq's descriptor
        self._failure = ""  # of a handshake: the end of its connection follows

    @property
    def is_idle(self) -> bool:
        """Whether nobody is connected whom `look` could find to be at fault."""
        return self._port is None or not self._connections

    def listen(self) -> None:
        """Take in what the monitor has to tell."""
        while self.monitor.poll(0):
            event = parse_monitor_message(self.monitor.recv_multipart())
            value = event["value"]
            match event["event"]:
                case zmq.EVENT_ACCEPTED:
                    self._accepted(value)
                case zmq.EVENT_DISCONNECTED:
                    self._disconnected(value)
                case zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL:
                    self._failure = OF_PROTOCOL_ERROR.get(int(value), "not_zeromq")
                case zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
                    self._failure = "silent"
                case zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                    self._failure = TOLD

    def look(self) -> None:
        """At every connection: who must go, goes. Only TCP counts its bytes."""
        if self.is_idle:
            return
        now = now_ns()
        for connection in self._connections.values():
            if reason := connection.fault(self._bounds, now):
                self._cut(connection, reason)
        if self._bounds.together is not None:
            self._cut_the_largest(self._bounds.together)

    def cut(self, descriptor: int, reason: str) -> None:
        """Cut off the connection to which libzmq has given this number."""
        if connection := self._connections.get(descriptor):
            self._cut(connection, reason)

    def cut_all(self) -> None:
        """All must come again; nobody has done anything wrong."""
        for connection in self._connections.values():
            connection.cut()

    def close(self) -> None:
        """Let go of all."""
        self.monitor.close()
        for descriptor in list(self._connections):
            self._forget(descriptor)

    def _cut_the_largest(self, together: int) -> None:
        """Until the rest have sent so many unusual bytes at most."""
        unusual = {each: each.unusual_bytes(self._bounds) for each in self._connections.values()}
        total = sum(unusual.values())
        for connection in sorted(unusual, key=lambda each: unusual[each], reverse=True):
            if total <= together:
                return
            total -= unusual[connection]
            self._cut(connection, "too_much")

    def _accepted(self, descriptor: int) -> None:
        self._forget(descriptor)
        try:
            connection = Connection(descriptor, self._port, now_ns())
        except OSError:
            return  # it has gone again; its end follows
        self._connections[descriptor] = connection
        if len(self._connections) > self._bounds.connections:
            self._cut(connection, "too_many")

    def _disconnected(self, descriptor: int) -> None:
        failure, self._failure = self._failure, ""
        connection = self._connections.get(descriptor)
        if failure != TOLD and (reason := _why(connection, failure)):
            self._rejections.add(self.name, reason, connection.host if connection else UNSEEN)
        self._forget(descriptor)

    def _cut(self, connection: Connection, reason: str) -> None:
        if not connection.is_cut:
            connection.cut()
            self._rejections.add(self.name, reason, connection.host)

    def _forget(self, descriptor: int) -> None:
        if connection := self._connections.pop(descriptor, None):
            connection.close()


def _why(connection: Connection | None, failure: str) -> str:
    """What to count the end of a connection as; nothing where the peer has left, or was cut off and counted."""
    if connection is None:  # it had gone before there was a look at it
        return "at_once" if failure in {"", "silent"} else failure
    if connection.is_cut or not (reason := connection.why_dropped()):
        return ""
    return failure or reason
