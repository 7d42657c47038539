"""The stream's socket with its guard, without a hub."""

from collections.abc import Iterator
from contextlib import contextmanager

import zmq

from edged.hub.links.authentication import Rejections
from edged.hub.links.guard import Guard
from edged.hub.links.sockets import SUBSCRIBER, bind
from edged.hub.publish.sender import HeldTopics
from edged.metrics import Metrics
from edged.transport.client_socket import Curve, unconnected
from edged.transport.keys import KeyPair
from tests.eventually import eventually, free_port
from tests.hub.pipeline import new_services

ENDPOINT = "publish.address"


class Stream:
    """An XPUB with its guard, and subscribers to it."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], *, encrypted: bool = False) -> None:
        self.context = context
        self.metrics = Metrics("test")
        self.services = new_services()
        self.subscribers: list[zmq.Socket[bytes]] = []
        pair = KeyPair(*zmq.curve_keypair()) if encrypted else None
        self.curve = Curve(KeyPair(*zmq.curve_keypair()), pair.public) if pair else None
        self.guard = Guard(context, Rejections(self.metrics.peers_rejected), self.services, pair)
        if self.curve:
            self.guard.allow({ENDPOINT: {self.curve.pair.public: "subscriber"}})
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.socket = bind(context, zmq.XPUB, ENDPOINT, self.address, 100, self.guard, bounds=SUBSCRIBER)
        self.topics = HeldTopics(self.socket)
        self.guard.bound_topics(ENDPOINT, self.topics)

    def subscriber(self, *topics: bytes) -> zmq.Socket[bytes]:
        """Return one that is served."""
        subscriber = self.connected(b"served", *topics)
        self.serve(subscriber)
        return subscriber

    def connected(self, *topics: bytes) -> zmq.Socket[bytes]:
        """Return one that connects, with these topics, as our own clients do."""
        subscriber = self._unconnected()
        for topic in topics:
            subscriber.subscribe(topic)
        subscriber.connect(self.address)
        return subscriber

    def admitted(self) -> zmq.Socket[bytes]:
        """Return one that is admitted, and has not subscribed to anything."""
        subscriber = self._unconnected()
        monitor = subscriber.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        subscriber.connect(self.address)
        eventually(lambda: self._is_admitted(monitor))
        subscriber.disable_monitor()
        monitor.close()
        return subscriber

    def crowd(self) -> None:
        """Connect one that sends too much, and wait until it is disconnected."""
        crowding = self.connected(*(b"%05d" % number for number in range(2000)))
        eventually(lambda: self.rejected("too_much") >= 1)
        crowding.close()

    def serve(self, subscriber: zmq.Socket[bytes]) -> None:
        """Send until a message reaches this one."""
        eventually(lambda: self._sent(subscriber))

    def _unconnected(self) -> zmq.Socket[bytes]:
        subscriber = unconnected(self.context, zmq.SUB, self.address, 100, self.curve)
        self.subscribers.append(subscriber)
        return subscriber

    def _is_admitted(self, monitor: zmq.Socket[bytes]) -> bool:
        self.topics.read()
        return bool(monitor.poll(0))

    def _sent(self, subscriber: zmq.Socket[bytes]) -> bool:
        self.topics.read()
        self.socket.send(b"served")
        return bool(subscriber.poll(0) and subscriber.recv())

    def held(self) -> int:
        """Return the bytes of all topics."""
        self.topics.read()
        return self.topics.by_connection().total()

    def rejected(self, reason: str) -> float:
        """Return how many were disconnected for that."""
        self.topics.read()
        labels = {"endpoint": ENDPOINT, "reason": reason}
        return self.metrics.registry.get_sample_value("edged_peers_rejected_total", labels) or 0.0


@contextmanager
def guarded_stream(*, encrypted: bool = False) -> Iterator[Stream]:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    stream = Stream(context, encrypted=encrypted)
    try:
        yield stream
    finally:
        stream.services.close()
        stream.guard.close()
        context.destroy(linger=0)
