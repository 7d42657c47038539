"""Subscribers that hold too many topics, for all that are connected."""

from collections.abc import Iterator

import pytest
import zmq

from edged.hub.links import guard as of_guard
from edged.hub.links.authentication import Rejections
from edged.hub.links.guard import Guard
from edged.hub.links.sockets import SUBSCRIBER, bind
from edged.hub.publish.sender import HeldTopics
from edged.metrics import Metrics
from tests.eventually import eventually, free_port
from tests.hub.pipeline import new_services

ENDPOINT = "publish.address"


class Stream:
    """An XPUB with its guard, and subscribers to it."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        self.context = context
        self.metrics = Metrics("test")
        self.services = new_services()
        self.subscribers: list[zmq.Socket[bytes]] = []
        self.guard = Guard(context, Rejections(self.metrics.peers_rejected), self.services)
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.socket = bind(context, zmq.XPUB, ENDPOINT, self.address, 100, self.guard, bounds=SUBSCRIBER)
        self.topics = HeldTopics(self.socket)
        self.guard.bound_topics(ENDPOINT, self.topics)

    def subscriber(self, *topics: bytes) -> zmq.Socket[bytes]:
        """Return one that is served."""
        subscriber = self.context.socket(zmq.SUB)
        self.subscribers.append(subscriber)
        for topic in (b"served", *topics):
            subscriber.subscribe(topic)
        subscriber.connect(self.address)
        self.serve(subscriber)
        return subscriber

    def serve(self, subscriber: zmq.Socket[bytes]) -> None:
        """Send until a message reaches this one."""
        eventually(lambda: self._sent(subscriber))

    def _sent(self, subscriber: zmq.Socket[bytes]) -> bool:
        self.topics.read()
        self.socket.send(b"served")
        return bool(subscriber.poll(0) and subscriber.recv())

    def held(self) -> int:
        """Return the bytes of all topics."""
        self.topics.read()
        return self.topics.by_connection().total()

    def rejected(self) -> float:
        """Return how many sent too much."""
        self.topics.read()
        labels = {"endpoint": ENDPOINT, "reason": "too_much"}
        return self.metrics.registry.get_sample_value("edged_peers_rejected_total", labels) or 0.0


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stream]:
    """Two subscribers may hold 100 bytes of topics, three 66."""
    monkeypatch.setattr(of_guard, "MOST", 200)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    stream = Stream(context)
    yield stream
    stream.services.close()
    stream.guard.close()
    context.destroy(linger=0)


def names(count: int, of: str) -> list[bytes]:
    """Return so many topics of ten bytes."""
    return [f"{of}{number:05}".encode().ljust(10, b".") for number in range(count)]


def test_the_one_with_the_most_topics_is_disconnected_and_the_other_is_served(stream: Stream) -> None:
    modest = stream.subscriber(*names(2, of="mine"))
    assert stream.rejected() == 0
    stream.subscriber(*names(9, of="all"))
    eventually(lambda: stream.rejected() >= 1)
    stream.serve(modest)


def test_topics_that_many_share_count_once(stream: Stream) -> None:
    shared = names(4, of="ours")
    subscribers = [stream.subscriber(*shared) for _ in range(3)]
    for each in subscribers:
        stream.serve(each)
    assert stream.rejected() == 0


def test_topics_that_were_given_up_count_no_more(stream: Stream) -> None:
    other = stream.subscriber()
    changing = stream.subscriber(*names(3, of="first"))
    for topic in names(3, of="first"):
        changing.unsubscribe(topic)
    for topic in names(3, of="next"):
        changing.subscribe(topic)
    stream.subscriber(*names(2, of="gone")).close(linger=0)
    eventually(lambda: stream.held() == 3 * 10 + 6)
    stream.serve(changing)
    stream.serve(other)
    assert stream.rejected() == 0


def test_a_message_that_is_no_subscription_is_ignored(stream: Stream) -> None:
    talkative = stream.context.socket(zmq.XSUB)
    stream.subscribers.append(talkative)
    talkative.connect(stream.address)
    talkative.send(b"")
    talkative.send(b"hello")
    talkative.send(b"\x00never subscribed")
    other = stream.subscriber()
    stream.serve(other)
    assert stream.rejected() == 0


def test_a_subscription_of_no_connection_is_counted_and_harms_nobody(stream: Stream) -> None:
    # given a peer in this process: like one whose connection ended at once, it has no descriptor
    stream.socket.bind("inproc://stream")
    peer = stream.context.socket(zmq.SUB)
    stream.subscribers.append(peer)
    peer.subscribe(b"served")
    peer.subscribe(b"0123456789")
    peer.connect("inproc://stream")

    stream.serve(peer)

    assert stream.held() == 6 + 10
    assert stream.rejected() == 0
