"""The link of a camera or worker to a hub on another host, and the estimate of its clocks."""

import logging
import random
from collections.abc import Iterator

import pytest
import zmq

from edged.clock import NANOSECONDS, nanoseconds, now_ns, wall_s
from edged.messages import ClockAnswer, ClockRequest, decode, encode
from edged.transport import hub_link
from edged.transport.hub_link import HubClock, HubLink
from tests.eventually import LIMIT_MS, TURN_S, eventually

Hub = zmq.Socket[bytes]

MILLISECOND = 1_000_000
AHEAD_NS = 3_600 * NANOSECONDS + 12_345
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
    monkeypatch.setattr(hub_link, "now_ns", clock.now_ns)
    monkeypatch.setattr(hub_link, "seconds_since", clock.seconds_since)
    return clock


@pytest.fixture
def link(hub: Hub, clock: Clock, caplog: pytest.LogCaptureFixture) -> Iterator[HubLink]:
    """A camera's link that a hub has accepted."""
    caplog.set_level(logging.INFO, "edged.link")
    link = HubLink("camera/yard", hub.getsockopt_string(zmq.LAST_ENDPOINT), queued=2)
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
        clock.passes(hub_link.ASK_S)
        answer(hub, asked(hub, link))
        assert eventually(lambda: link.wait(TURN_S))
        assert not link.has_joined()
        assert link.receive()
    assert ANEW not in caplog.text


def test_a_hub_that_does_not_answer_is_connected_to_anew(
    hub: Hub, link: HubLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.passes(hub_link.ASK_S)
    assert asked(hub, link)
    clock.passes(0.99 * hub_link.SILENT_S)
    assert not joins(link)
    assert ANEW not in caplog.text

    clock.passes(0.01 * hub_link.SILENT_S)
    assert eventually(lambda: joins(link))  # a second time, with the old connection still open
    assert caplog.text.count(ANEW) == 1


def test_an_answer_that_waits_while_the_process_is_busy_counts(
    hub: Hub, link: HubLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.passes(hub_link.ASK_S)
    answer(hub, asked(hub, link))
    assert eventually(lambda: link.wait(TURN_S))
    clock.passes(60.0)  # as long as a large network computes
    link.wait(TURN_S)
    assert link.receive() is not None  # of the same connection
    assert ANEW not in caplog.text


def test_a_hub_that_is_not_asked_may_be_silent(
    hub: Hub, link: HubLink, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.passes(hub_link.ASK_S)
    assert asked(hub, link)  # and left without an answer
    link.stop_requests()
    for _ in range(3):
        clock.passes(hub_link.SILENT_S)
        assert not joins(link)
    assert requests(hub) == []
    assert ANEW not in caplog.text


def ask(clock: HubClock, there_ns: int, back_ns: int) -> None:
    """A round trip that has just ended, to a hub whose clock is ahead."""
    received_ns = now_ns()
    sent_ns = received_ns - there_ns - back_ns
    clock.add_answer(sent_ns, sent_ns + there_ns + AHEAD_NS, wall_s() + 60, received_ns)


def test_on_the_hubs_own_host_there_is_one_clock() -> None:
    clock = HubClock(same_host=True)
    assert clock.is_known
    assert clock.to_hub_time(5, 6.0) == (5, 6.0, 0)


def test_what_it_says_is_never_further_off_than_it_says_whatever_the_ways_take() -> None:
    chance = random.Random(1)  # noqa: S311
    clock = HubClock(same_host=False)
    assert not clock.is_known
    for _ in range(100):
        ask(clock, chance.randrange(50 * MILLISECOND), chance.randrange(50 * MILLISECOND))
        hub_ns, _, error_ns = clock.to_hub_time(10**15, 0.0)
        assert abs(hub_ns - (10**15 + AHEAD_NS)) <= error_ns


def test_the_quickest_of_the_last_round_trips_counts() -> None:
    clock = HubClock(same_host=False)
    ask(clock, 2 * MILLISECOND, 0)
    for _ in range(5):
        ask(clock, 40 * MILLISECOND, 0)
    assert clock.to_hub_time(0, 0.0)[2] < 2 * MILLISECOND


def test_the_wall_clock_is_the_hubs_too() -> None:
    clock = HubClock(same_host=False)
    ask(clock, MILLISECOND, MILLISECOND)
    assert abs(clock.to_hub_time(0, 1000.0)[1] - 1060.0) < 0.01
