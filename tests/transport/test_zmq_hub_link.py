"""The link of a camera or worker to a hub on another host."""

import logging
from collections.abc import Iterator

import pytest
import zmq

from edged.clock import NANOSECONDS, nanoseconds
from edged.messages import ClockAnswer, ClockRequest, decode, encode
from edged.transport import zmq_hub_link
from edged.transport.hub_link import HubLink, open_hub_link
from tests.eventually import LIMIT_MS, TURN_S, eventually

Hub = zmq.Socket[bytes]

ANEW = "connecting again"  # what the log says of a hub that is silent


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub's socket on TCP, as on another host."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        socket.setsockopt(zmq.LINGER, 0)
        socket.bind("tcp://127.0.0.1:*")
        yield socket


class Clock:
    """The link's: it goes on when it is told to, however long the machine takes."""

    def __init__(self) -> None:
        self._now_ns = NANOSECONDS

    def passes(self, seconds: float) -> None:
        self._now_ns += nanoseconds(seconds)

    def now_ns(self) -> int:
        return self._now_ns

    def seconds_since(self, start_ns: int) -> float:
        return (self._now_ns - start_ns) / NANOSECONDS


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(zmq_hub_link, "now_ns", clock.now_ns)
    monkeypatch.setattr(zmq_hub_link, "seconds_since", clock.seconds_since)
    return clock


@pytest.fixture
def link(hub: Hub, clock: Clock, caplog: pytest.LogCaptureFixture) -> Iterator[HubLink]:
    """A camera's link that a hub has accepted."""
    caplog.set_level(logging.INFO, "edged.link")
    link = open_hub_link("camera/yard", hub.getsockopt_string(zmq.LAST_ENDPOINT), queued=2)
    assert eventually(lambda: joins(link))
    yield link
    link.close()


def joins(link: HubLink) -> bool:
    link.wait(TURN_S)
    return link.has_joined()


def asked(hub: Hub, link: HubLink) -> ClockRequest:
    """The request that is due."""
    link.wait(TURN_S)
    assert hub.poll(LIMIT_MS)
    (request,) = requests(hub)
    return request


def answer(hub: Hub, request: ClockRequest) -> None:
    hub.send_multipart([b"camera/yard", encode(ClockAnswer(sent_ns=request.sent_ns, hub_ns=1, hub_at=1.0))])


def requests(hub: Hub) -> list[ClockRequest]:
    """Return the requests that have come meanwhile."""
    came = []
    while hub.poll(0):
        _, body = hub.recv_multipart()
        message = decode(body)
        assert isinstance(message, ClockRequest)
        came.append(message)
    return came


def test_a_hub_that_answers_keeps_its_connection(
    hub: Hub, link: HubLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(6):  # more than twice as long as a silent hub is waited for
        clock.passes(zmq_hub_link.ASK_S)
        answer(hub, asked(hub, link))
        assert eventually(lambda: link.wait(TURN_S))
        assert not link.has_joined()
        assert link.receive()
    assert ANEW not in caplog.text


def test_a_hub_that_does_not_answer_is_connected_to_anew(
    hub: Hub, link: HubLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.passes(zmq_hub_link.ASK_S)
    assert asked(hub, link)
    clock.passes(0.99 * zmq_hub_link.SILENT_S)
    assert not joins(link)
    assert ANEW not in caplog.text

    clock.passes(0.01 * zmq_hub_link.SILENT_S)
    assert eventually(lambda: joins(link))  # a second time, with the old connection still open
    assert caplog.text.count(ANEW) == 1


def test_an_answer_that_waits_while_the_process_is_busy_counts(
    hub: Hub, link: HubLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.passes(zmq_hub_link.ASK_S)
    answer(hub, asked(hub, link))
    assert eventually(lambda: link.wait(TURN_S))
    clock.passes(60.0)  # as long as a large network computes
    link.wait(TURN_S)
    assert link.receive() is not None  # of the same connection
    assert ANEW not in caplog.text


def test_a_hub_that_is_not_asked_may_be_silent(
    hub: Hub, link: HubLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.passes(zmq_hub_link.ASK_S)
    assert asked(hub, link)  # and left without an answer
    link.stop_requests()
    for _ in range(3):
        clock.passes(zmq_hub_link.SILENT_S)
        assert not joins(link)
    assert requests(hub) == []
    assert ANEW not in caplog.text
