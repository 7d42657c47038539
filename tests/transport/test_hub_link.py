"""The link of a camera or worker to a hub on another host."""

import time
from collections.abc import Iterator

import pytest
import zmq

from edged.messages import ClockAnswer, ClockRequest, decode, encode
from edged.transport import hub_link
from edged.transport.hub_link import HubLink
from tests.eventually import eventually

Hub = zmq.Socket[bytes]


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub's socket on TCP, as on another host."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        socket.setsockopt(zmq.LINGER, 0)
        socket.bind("tcp://127.0.0.1:*")
        yield socket


@pytest.fixture
def link(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubLink]:
    """A camera's link that asks ten times a second."""
    monkeypatch.setattr(hub_link, "ASK_S", 0.1)
    monkeypatch.setattr(hub_link, "SILENT_S", 0.5)
    link = HubLink("camera/yard", hub.getsockopt_string(zmq.LAST_ENDPOINT), queued=2)
    yield link
    link.close()


def joins(link: HubLink) -> bool:
    link.wait(0.1)
    return link.has_joined()


def requests(hub: Hub) -> list[ClockRequest]:
    """Return the requests that have come meanwhile."""
    came = []
    while hub.poll(0):
        _, body = hub.recv_multipart()
        message = decode(body)
        assert isinstance(message, ClockRequest)
        came.append(message)
    return came


def test_a_hub_that_answers_keeps_its_connection(hub: Hub, link: HubLink) -> None:
    assert eventually(lambda: joins(link), 10)
    answered = 0
    while answered < 12:  # more than twice as long as a silent hub is waited for
        assert not joins(link)
        for request in requests(hub):
            answer = ClockAnswer(sent_ns=request.sent_ns, hub_ns=1, hub_at=1.0)
            hub.send_multipart([b"camera/yard", encode(answer)])
            answered += 1
        while link.receive():
            pass


def test_a_hub_that_does_not_answer_is_connected_to_anew(hub: Hub, link: HubLink) -> None:
    assert eventually(lambda: joins(link), 10)
    assert not joins(link)
    assert eventually(lambda: joins(link), 10)  # a second time, with the old connection still open


def test_an_answer_that_waits_while_the_process_is_busy_counts(
    hub: Hub, link: HubLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert eventually(lambda: joins(link), 10)
    assert eventually(lambda: (link.wait(0.1), hub.poll(0))[1], 10)
    (request,) = requests(hub)[:1]
    hub.send_multipart([b"camera/yard", encode(ClockAnswer(sent_ns=request.sent_ns, hub_ns=1, hub_at=1.0))])
    assert eventually(lambda: link.wait(0.05), 10)
    monkeypatch.setattr(hub_link, "seconds_since", lambda _: 60.0)  # as long as a large network computes
    link.wait(0.1)
    assert link.receive() is not None  # of the same connection


def test_a_hub_that_is_not_asked_may_be_silent(hub: Hub, link: HubLink) -> None:
    assert eventually(lambda: joins(link), 10)
    link.stop_requests()
    end = time.monotonic() + 3 * hub_link.SILENT_S
    while time.monotonic() < end:
        assert not joins(link)
    assert requests(hub) == []
