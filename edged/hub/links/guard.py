"""Limit what peers may send: a thread beside the hub's loop disconnects those that exceed it.

A thread, because a peer may keep the loop itself busy: libzmq adds subscriptions while the hub sends, for as
long as they keep coming. MAXMSGSIZE bounds a message, nothing in libzmq the number of them or of their parts; so
the guard checks many times a second how many bytes each connection has sent.
"""

import queue
import threading
import time
from collections.abc import Mapping

import zmq
from zmq.utils.monitor import parse_monitor_message

from edged.clock import now_ns
from edged.hub.events import HubEvent
from edged.hub.links.authentication import Rejections, Zap
from edged.hub.links.connection import Bounds, Connection
from edged.hub.service_threads import ServiceThreads
from edged.transport.address import host_and_port, is_ipc
from edged.transport.keys import KeyPair

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
        """Close all sockets."""
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
        return "immediate_disconnect" if failure in {"", "silent"} else failure
    if connection.is_cut or not (reason := connection.why_dropped()):
        return ""
    return failure or reason


SHORTEST_S, LONGEST_S, IDLE_S = 0.02, 0.5, 0.1  # between two looks at all connections
SHARE = 30  # a look takes at most this part of the time
RESTART_S = 0.5  # nobody gets in while the thread is dead


class Guard:
    """Sockets that are given to `admit` before they are bound let in whom `allow` names."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        rejections: Rejections,
        services: ServiceThreads,
        pair: KeyPair | None = None,
    ) -> None:
        """`pair`: the hub's keys; without them connections are neither encrypted nor refused."""
        self._context = context
        self._rejections = rejections
        self._pair = pair
        self._zap = Zap(context, rejections)
        self._endpoints: list[Endpoint] = []
        self._new: queue.SimpleQueue[Endpoint] = queue.SimpleQueue()
        self._to_cut: queue.SimpleQueue[tuple[str, int, str]] = queue.SimpleQueue()
        self._cut_all = threading.Event()
        self._stopped = threading.Event()
        self._look_s = SHORTEST_S
        self._next_look_s = 0.0
        self._thread = services.start("guard", self._run, RESTART_S)

    def admit(self, socket: zmq.Socket[bytes], name: str, address: str, bounds: Bounds) -> None:
        """Watch over this socket, which is to be bound to `address`; `name`: what it is called in metrics."""
        if self._pair and not is_ipc(address):
            socket.setsockopt(zmq.CURVE_SERVER, 1)
            socket.setsockopt(zmq.CURVE_PUBLICKEY, self._pair.public)
            socket.setsockopt(zmq.CURVE_SECRETKEY, self._pair.secret)
            self._zap.encrypted |= {name}
        socket.setsockopt(zmq.ZAP_DOMAIN, name.encode())
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)  # nobody gets in while the thread is dead, rather than all
        monitor = self._context.socket(zmq.PAIR)
        monitor.setsockopt(zmq.RCVHWM, 0)  # else libzmq's thread would wait for us
        monitor.setsockopt(zmq.LINGER, 0)
        socket.monitor(f"inproc://monitor/{name}/{id(monitor)}", EVENTS)
        monitor.connect(f"inproc://monitor/{name}/{id(monitor)}")
        port = None if is_ipc(address) else host_and_port(address)[1]
        self._new.put(Endpoint(name, port, bounds, monitor, self._rejections))

    def allow(self, allowed: Mapping[str, Mapping[bytes, str]]) -> None:
        """From now on these keys alone, by endpoint. Where one is taken away, everybody must come again."""
        before, self._zap.allowed = self._zap.allowed, allowed
        if any(before[name].items() - allowed.get(name, {}).items() for name in before):
            self._cut_all.set()

    def reject(self, name: str, part: zmq.Frame, reason: str = "malformed") -> None:
        """Cut off the peer of endpoint `name` from which this part of a message came. From any thread."""
        self._to_cut.put((name, int(part.get(zmq.SRCFD)), reason))

    def notices(self, now_ns: int) -> list[HubEvent]:
        """Return the rejected peers."""
        return self._rejections.notices(now_ns)

    def close(self) -> None:
        """Stop; to be called before the context ends."""
        self._stopped.set()
        self._thread.join()
        while not self._new.empty():
            self._endpoints.append(self._new.get())
        for endpoint in self._endpoints:
            endpoint.close()
        self._zap.socket.close()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._turn()

    def _turn(self) -> None:
        while not self._new.empty():
            self._endpoints.append(self._new.get())
        self._wait()
        self._zap.serve()
        for endpoint in self._endpoints:
            endpoint.listen()
        self._cut_whom_others_named()
        if time.monotonic() >= self._next_look_s:
            self._look()

    def _wait(self) -> None:
        poller = zmq.Poller()
        for socket in (self._zap.socket, *(endpoint.monitor for endpoint in self._endpoints)):
            poller.register(socket, zmq.POLLIN)
        is_idle = all(endpoint.is_idle for endpoint in self._endpoints)
        poller.poll(round(1000 * (IDLE_S if is_idle else self._look_s)))

    def _cut_whom_others_named(self) -> None:
        if self._cut_all.is_set():
            self._cut_all.clear()
            for endpoint in self._endpoints:
                if endpoint.name in self._zap.encrypted:
                    endpoint.cut_all()
        while not self._to_cut.empty():
            name, descriptor, reason = self._to_cut.get()
            for endpoint in self._endpoints:
                if endpoint.name == name:
                    endpoint.cut(descriptor, reason)

    def _look(self) -> None:
        """At every connection; the more there are, the less often."""
        start_s = time.monotonic()
        for endpoint in self._endpoints:
            endpoint.look()
        end_s = time.monotonic()
        self._look_s = min(LONGEST_S, max(SHORTEST_S, SHARE * (end_s - start_s)))
        self._next_look_s = end_s + self._look_s
