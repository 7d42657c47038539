"""Limit what peers may send: a thread beside the hub's loop disconnects those that exceed it.

A thread, because a peer may keep the loop itself busy: libzmq adds subscriptions while the hub sends, for as
long as they keep coming. MAXMSGSIZE bounds a message, nothing in libzmq the number of them or of their parts; so
the guard checks many times a second how many bytes each connection has sent.
"""

import contextlib
import math
import os
import queue
import threading
import time
import weakref
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

import zmq
from zmq.utils.monitor import parse_monitor_message

from edged.clock import now_ns
from edged.hub.events import HubEvent
from edged.hub.links.authentication import Rejections, Zap
from edged.hub.links.connection import ENCRYPTED, PLAIN, Bounds, Connection
from edged.hub.links.handshakes import SILENT_S, HandshakePace
from edged.hub.service_threads import ServiceThreads
from edged.transport.address import is_ipc
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
BY_ZAP = "by_zap"  # counted by Zap, which knows the key
UNSEEN = "an unknown address"


class SubscribedTopics(Protocol):
    """Topics of an endpoint's connections. `are_more`: whether there are some that libzmq has not added yet."""

    are_more: bool

    def by_connection(self) -> Counter[int]:
        """Return the bytes of topics that each connection has brought, by libzmq's descriptor."""


MOST = 1 << 20  # connections times bytes of topics: if all leave together, libzmq takes 0.1 s (90 ns for each)
AT_ONCE = 5  # disconnections for topics between two checks, for each costs all others


class Endpoint:
    """One endpoint and its connections. After `__init__` only the guard's thread uses it."""

    def __init__(
        self,
        name: str,
        address: str,
        bounds: Bounds,
        monitor: zmq.Socket[bytes],
        rejections: Rejections,
        pace: HandshakePace | None = None,
    ) -> None:
        """`address`: ours; `monitor`: the reading end; `pace`: of those who connect, if that is bounded."""
        self.name = name
        self.monitor = monitor
        self._address = address
        self._bounds = bounds
        self._rejections = rejections
        self._connections: dict[int, Connection] = {}  # by libzmq's descriptor
        self._pace = pace
        self._failure = ""  # of a handshake: the event of its end follows

    @property
    def is_idle(self) -> bool:
        """Return whether no connection could be at fault."""
        return is_ipc(self._address) or not self._connections

    @property
    def look_s(self) -> float:
        """Return the seconds between two checks in which no peer can send much more than it may."""
        if self.is_idle:
            return IDLE_S
        return min(LONGEST_S, max(SHORTEST_S, self._bounds.burst / FASTEST))

    def listen(self) -> None:
        """Handle the events of the monitor."""
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
                    self._failure = BY_ZAP

    def look(self, topics: SubscribedTopics | None) -> None:
        """Disconnect connections that exceed the bounds, and admit the next ones. `topics`: to bound."""
        now = now_ns()
        if not self.is_idle:
            self._cut_the_faulty(topics, now)
        if self._pace and not (topics and topics.are_more):
            self._admit_more(self._pace, now)

    def cut(self, descriptor: int, reason: str) -> None:
        """Disconnect the connection with this descriptor of libzmq."""
        if connection := self._connections.get(descriptor):
            self._cut(connection, reason)

    def cut_all(self) -> None:
        """Disconnect all, without counting: every peer must authenticate again."""
        for connection in self._connections.values():
            connection.cut()

    def close(self) -> None:
        self.monitor.close()
        for descriptor in list(self._connections):
            self._forget(descriptor)

    def _cut_the_faulty(self, topics: SubscribedTopics | None, now_ns: int) -> None:
        """Disconnect connections that exceed the bounds. Only TCP counts its bytes."""
        for connection in self._connections.values():
            if reason := connection.fault(self._bounds, now_ns):
                self._cut(connection, reason)
        if self._bounds.together is not None:
            self._cut_the_largest(self._bounds.together)
        if topics:
            self._cut_for_topics(topics.by_connection())

    def _admit_more(self, pace: HandshakePace, now_ns: int) -> None:
        """Admit the next ones; while a crowd waits, disconnect those that have not subscribed."""
        silent = [
            (seconds, each)
            for each in self._connections.values()
            if (seconds := each.silent_s(pace.handshake, now_ns)) is not None
        ]
        for seconds, connection in silent:
            if pace.is_crowded and seconds > SILENT_S:
                self._cut(connection, "silent")
        pace.checked(len(silent))

    def _cut_the_largest(self, together: int) -> None:
        """Disconnect the largest senders until the rest have sent at most so many unusual bytes."""
        unusual = {each: each.unusual_bytes(self._bounds) for each in self._connections.values()}
        total = sum(unusual.values())
        for connection in sorted(unusual, key=lambda each: unusual[each], reverse=True):
            if total <= together:
                return
            total -= unusual[connection]
            self._cut(connection, "too_much")

    def _cut_for_topics(self, topics: Counter[int]) -> None:
        """Disconnect those that hold the most topics while all are too many, some at a time."""
        held = {
            connection: topics[descriptor]
            for descriptor, connection in self._connections.items()
            if topics[descriptor] and not connection.is_cut
        }
        total = sum(held.values())
        for connection in sorted(held, key=lambda each: held[each], reverse=True)[:AT_ONCE]:
            if len(self._connections) * total <= MOST:
                return
            total -= held[connection]
            self._cut(connection, "too_much")

    def _accepted(self, descriptor: int) -> None:
        self._forget(descriptor)
        try:
            connection = Connection(descriptor, self._address, now_ns())
        except OSError:
            return  # it is already closed; its event follows
        self._connections[descriptor] = connection
        if len(self._connections) > self._bounds.connections:
            self._cut(connection, "too_many")

    def _disconnected(self, descriptor: int) -> None:
        failure, self._failure = self._failure, ""
        connection = self._connections.get(descriptor)
        if failure != BY_ZAP and (reason := _why(connection, failure)):
            self._rejections.add(self.name, reason, connection.host if connection else UNSEEN)
        self._forget(descriptor)

    def _cut(self, connection: Connection, reason: str) -> None:
        if not connection.is_cut:
            connection.cut()
            self._rejections.add(self.name, reason, connection.host)
            if self._pace and reason == "too_much":
                self._pace.slow_down()

    def _forget(self, descriptor: int) -> None:
        if connection := self._connections.pop(descriptor, None):
            connection.close()


def _why(connection: Connection | None, failure: str) -> str:
    """Return the reason to count a connection's end as; empty if the peer left, or was counted before."""
    if connection is None:  # it ended before it was seen
        return "immediate_disconnect" if failure in {"", "silent"} else failure
    if connection.is_cut or not (reason := connection.why_dropped()):
        return ""
    return failure or reason


SHORTEST_S, LONGEST_S, IDLE_S = 0.02, 0.5, 1.0  # seconds between two checks of all connections
FASTEST = 1 << 33  # bytes a second, more than a network brings
SHARE = 10  # checks take at most one part in this many of the time
RESTART_S = 0.5  # seconds until a failed thread restarts; no peer is accepted meanwhile


class Guard:
    """Accepts only the keys of `allow` at sockets that were passed to `admit`, and limits what peers send."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        rejections: Rejections,
        services: ServiceThreads,
        pair: KeyPair | None = None,
    ) -> None:
        """`pair`: the hub's keys; without them connections are neither encrypted nor authenticated."""
        self._context = context
        self._rejections = rejections
        self._pair = pair
        self._zap = Zap(context, rejections)
        self._endpoints: list[Endpoint] = []
        self._new: queue.SimpleQueue[Endpoint] = queue.SimpleQueue()
        self._to_cut: queue.SimpleQueue[tuple[str, int, str]] = queue.SimpleQueue()
        self._topics: dict[str, SubscribedTopics] = {}  # by endpoint
        self._cut_all = threading.Event()
        self._stopped = threading.Event()
        self._called = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)  # wakes the thread
        weakref.finalize(self, os.close, self._called)
        self._looked_s = self._took_s = 0.0  # the end of the last check of all connections, and its seconds
        self._thread = services.start("guard", self._run, RESTART_S)

    @property
    def has_keys(self) -> bool:
        """Return whether peers of other hosts must prove their keys."""
        return self._pair is not None

    def admit(self, socket: zmq.Socket[bytes], name: str, address: str, bounds: Bounds) -> None:
        """Guard this socket, before it is bound to `address`; `name`: as in the metrics."""
        if self._pair and not is_ipc(address):
            socket.setsockopt(zmq.CURVE_SERVER, 1)
            socket.setsockopt(zmq.CURVE_PUBLICKEY, self._pair.public)
            socket.setsockopt(zmq.CURVE_SECRETKEY, self._pair.secret)
            self._zap.encrypted |= {name}
        socket.setsockopt(zmq.ZAP_DOMAIN, name.encode())
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)  # without the thread no peer is accepted, instead of all
        monitor = self._context.socket(zmq.PAIR)
        monitor.setsockopt(zmq.RCVHWM, 0)  # else libzmq's thread would block
        monitor.setsockopt(zmq.LINGER, 0)
        socket.monitor(f"inproc://monitor/{name}/{id(monitor)}", EVENTS)
        monitor.connect(f"inproc://monitor/{name}/{id(monitor)}")
        handshake = ENCRYPTED if name in self._zap.encrypted else PLAIN
        pace = HandshakePace(handshake) if bounds.together is not None and not is_ipc(address) else None
        if pace:
            self._zap.paces = {**self._zap.paces, name: pace}
        self._new.put(Endpoint(name, address, bounds, monitor, self._rejections, pace))
        self._call()

    def allow(self, allowed: Mapping[str, Mapping[bytes, str]]) -> None:
        """Accept only these keys from now on, by endpoint. If a key is removed, all peers must connect again."""
        before, self._zap.allowed = self._zap.allowed, allowed
        if any(before[name].items() - allowed.get(name, {}).items() for name in before):
            self._cut_all.set()
            self._call()

    def bound_topics(self, name: str, topics: SubscribedTopics) -> None:
        """Disconnect peers of endpoint `name` that hold too many `topics`. Call it before any has connected."""
        self._topics[name] = topics

    def reject(self, name: str, part: zmq.Frame, reason: str = "malformed") -> None:
        """Disconnect the peer of endpoint `name` that sent this part of a message. Thread-safe."""
        self._to_cut.put((name, int(part.get(zmq.SRCFD)), reason))
        self._call()

    def notices(self, now_ns: int) -> list[HubEvent]:
        """Return an event for each peer that was rejected since the last call."""
        return self._rejections.notices(now_ns)

    def close(self) -> None:
        """Stop the thread; call it before the context is closed."""
        self._stopped.set()
        self._call()
        self._thread.join()
        while not self._new.empty():
            self._endpoints.append(self._new.get())
        for endpoint in self._endpoints:
            endpoint.close()
        self._zap.socket.close()

    def _call(self) -> None:
        """Wake the thread. Thread-safe."""
        os.eventfd_write(self._called, 1)

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
        if time.monotonic() >= self._looked_s + self._look_s():
            self._look()

    def _wait(self) -> None:
        poller = zmq.Poller()
        for waited in (self._called, self._zap.socket, *(endpoint.monitor for endpoint in self._endpoints)):
            poller.register(waited, zmq.POLLIN)
        poller.poll(math.ceil(1000 * min(self._look_s(), self._zap.due_s)))
        with contextlib.suppress(BlockingIOError):  # nobody has called
            os.eventfd_read(self._called)

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
        """Check all connections."""
        start_s = time.thread_time()  # without the time of others on a busy machine
        for endpoint in self._endpoints:
            endpoint.look(self._topics.get(endpoint.name))
        self._looked_s = time.monotonic()
        self._took_s = time.thread_time() - start_s

    def _look_s(self) -> float:
        """Return the seconds between two checks: more where peers may send much, or where there are many."""
        wanted_s = min((endpoint.look_s for endpoint in self._endpoints), default=IDLE_S)
        return max(wanted_s, min(LONGEST_S, SHARE * self._took_s))
