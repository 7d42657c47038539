"""The thread of the stream: order, what is too old at the send, and what does not fit."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec
import pytest
import zmq

from edged.clock import NANOSECONDS, now_ns
from edged.hub.frames.queues import Held
from edged.hub.publish.sender import QUEUED, Outcome, Outgoing, StreamSender
from edged.messages import prediction_from_json
from tests.eventually import LIMIT_MS, LIMIT_S, SILENCE_MS, eventually
from tests.hub.frames import CameraEnd
from tests.hub.pipeline import new_services
from tests.messages.examples import PREDICTION


class HeldUp:
    """A PUB whose sends wait while libzmq takes in topics without end."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket
        self.is_held_up = threading.Event()
        self.may_send = threading.Event()

    def send(self, *arguments: object, **flags: object) -> None:
        self.is_held_up.set()
        self.may_send.wait()
        self._socket.send(*arguments, **flags)  # type: ignore[call-overload]

    def __getattr__(self, name: str) -> object:
        return getattr(self._socket, name)


@dataclass
class Stream:
    sender: StreamSender
    held_up: HeldUp
    subscriber: zmq.Socket[bytes]

    def received(self) -> list[bytes]:
        assert self.subscriber.poll(LIMIT_MS)
        return self.subscriber.recv_multipart()

    def outcomes(self, count: int) -> list[Outcome]:
        """The next so many: a message is received before its outcome is there."""
        found: list[Outcome] = []
        while len(found) < count:
            found += eventually(self.sender.outcomes)
        return found


@pytest.fixture
def stream() -> Iterator[Stream]:
    """A sender that is held up until `may_send`, and a subscriber."""
    with _stream() as stream:
        yield stream


@contextmanager
def _stream() -> Iterator[Stream]:
    with zmq.Context() as context:
        publisher, subscriber = context.socket(zmq.XPUB), context.socket(zmq.SUB)
        port = publisher.bind_to_random_port("tcp://127.0.0.1")
        subscriber.connect(f"tcp://127.0.0.1:{port}")
        subscriber.subscribe("")
        publisher.recv()  # the subscription has come
        held_up = HeldUp(publisher)
        services = new_services()
        sender = StreamSender(held_up, services)  # type: ignore[arg-type]
        try:
            yield Stream(sender, held_up, subscriber)
        finally:
            services.close()
            held_up.may_send.set()
            sender.stop(LIMIT_S)
            subscriber.close()


def outgoing(seq: int, fresh_s: float = 60.0, *, journaled: bool = True) -> Outgoing:
    held = Held(CameraEnd("door").frame(0).frame, b"")
    made = msgspec.structs.replace(PREDICTION, seq=seq)
    now = now_ns()
    return Outgoing(b"topic", made, held, now, now + round(fresh_s * NANOSECONDS), journaled)


def test_predictions_and_events_go_out_in_the_order_in_which_they_were_handed_over(stream: Stream) -> None:
    stream.sender.put(outgoing(1), [b"event", b"between"], outgoing(2))
    stream.held_up.may_send.set()
    first, event, second = (stream.received() for _ in range(3))
    assert [json.loads(first[1])["seq"], event, json.loads(second[1])["seq"]] == [1, [b"event", b"between"], 2]
    assert [each.outgoing.prediction.seq for each in stream.outcomes(2)] == [1, 2]


def test_a_prediction_bears_the_time_of_the_send_however_long_it_has_waited(stream: Stream) -> None:
    waiting = outgoing(1)
    waiting.made_ns -= 3 * NANOSECONDS
    stream.held_up.may_send.set()
    stream.sender.put(waiting)
    sent = prediction_from_json(stream.received()[1])
    assert sent.seconds.total >= PREDICTION.seconds.total + 3
    assert sent.seconds.publish - PREDICTION.seconds.publish == pytest.approx(
        sent.seconds.total - PREDICTION.seconds.total
    )
    assert sent.published_at > PREDICTION.published_at


def test_a_prediction_that_has_grown_too_old_in_the_queue_is_never_sent(stream: Stream) -> None:
    stream.sender.put([b"event", b"held up"])
    late = outgoing(1, fresh_s=0.05)
    stream.sender.put(late, outgoing(2))
    assert late.stale_ns
    stale_ns = late.stale_ns
    eventually(lambda: now_ns() > stale_ns)
    stream.held_up.may_send.set()
    assert stream.received() == [b"event", b"held up"]
    assert json.loads(stream.received()[1])["seq"] == 2
    first, second = stream.outcomes(2)
    assert (first.sent, first.reason) == (None, "stale")
    assert second.sent


def test_who_hands_over_never_waits_and_what_does_not_fit_is_an_outcome_too(stream: Stream) -> None:
    dropped = stream.sender.put(*(outgoing(seq) for seq in range(QUEUED + 10)))
    assert dropped == 10
    assert [each.reason for each in stream.sender.outcomes()] == ["not_sent"] * 10
    assert stream.sender.put([b"event", b"too many"]) == 1


def test_at_the_end_what_is_queued_is_sent_and_what_cannot_be_is_handed_back(stream: Stream) -> None:
    stream.sender.put(outgoing(1), outgoing(2), outgoing(3))
    assert stream.held_up.is_held_up.wait(LIMIT_S)
    left = stream.sender.stop(within_s=0.1)
    assert [each.prediction.seq for each in left] == [2, 3]  # the first one is in the hands of libzmq
    stream.held_up.may_send.set()
    assert json.loads(stream.received()[1])["seq"] == 1
    assert not stream.subscriber.poll(SILENCE_MS)
