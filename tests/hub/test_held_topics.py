"""Subscribers that hold too many topics, for all that are connected."""

from collections.abc import Iterator

import pytest
import zmq

from edged.hub.links import guard as of_guard
from tests.eventually import eventually
from tests.hub.guarded_stream import Stream, guarded_stream


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stream]:
    """Two subscribers may hold 100 bytes of topics, three 66."""
    monkeypatch.setattr(of_guard, "MOST", 200)
    with guarded_stream() as stream:
        yield stream


def names(count: int, of: str) -> list[bytes]:
    """Return so many topics of ten bytes."""
    return [f"{of}{number:05}".encode().ljust(10, b".") for number in range(count)]


def test_the_one_with_the_most_topics_is_disconnected_and_the_other_is_served(stream: Stream) -> None:
    modest = stream.subscriber(*names(2, of="mine"))
    assert stream.rejected("too_much") == 0
    stream.subscriber(*names(9, of="all"))
    eventually(lambda: stream.rejected("too_much") >= 1)
    stream.serve(modest)


def test_topics_that_many_share_count_once(stream: Stream) -> None:
    shared = names(4, of="ours")
    subscribers = [stream.subscriber(*shared) for _ in range(3)]
    for each in subscribers:
        stream.serve(each)
    assert stream.rejected("too_much") == 0


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
    assert stream.rejected("too_much") == 0


def test_a_message_that_is_no_subscription_is_ignored(stream: Stream) -> None:
    talkative = stream.context.socket(zmq.XSUB)
    stream.subscribers.append(talkative)
    talkative.connect(stream.address)
    talkative.send(b"")
    talkative.send(b"hello")
    talkative.send(b"\x00never subscribed")
    other = stream.subscriber()
    stream.serve(other)
    assert stream.rejected("too_much") == 0


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
    assert stream.rejected("too_much") == 0
