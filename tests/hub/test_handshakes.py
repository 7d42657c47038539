"""How fast the peers of an endpoint are admitted."""

import math
import time
from collections import Counter

import pytest
import zmq

from edged.hub.links import handshakes
from edged.hub.links.authentication import Rejections
from edged.hub.links.guard import Endpoint
from edged.hub.links.handshakes import HandshakePace
from edged.hub.links.sockets import SUBSCRIBER
from edged.metrics import Metrics

FIRST, SECOND, THIRD = [b"first"], [b"second"], [b"third"]


def test_so_many_are_admitted_in_their_order_and_the_others_after_the_next_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handshakes, "EACH_CHECK", 2)
    pace = HandshakePace()
    for each in (FIRST, SECOND, THIRD):
        pace.add(each)
    assert pace.due_s() == 0
    assert [pace.due(), pace.due(), pace.due()] == [FIRST, SECOND, None]
    assert pace.due_s() == math.inf
    pace.checked(silent=0)
    assert pace.due_s() == 0
    assert [pace.due(), pace.due()] == [THIRD, None]
    assert pace.due_s() == math.inf


def test_one_is_admitted_between_checks_after_one_that_sent_too_much() -> None:
    pace = HandshakePace()
    pace.slow_down()
    pace.add(FIRST)
    pace.add(SECOND)
    assert [pace.due(), pace.due()] == [FIRST, None]
    pace.checked(silent=0)
    assert pace.due() == SECOND


def test_a_peer_whose_handshake_has_ended_meanwhile_costs_the_others_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handshakes, "PATIENCE_S", 0.1)
    pace = HandshakePace()
    pace.add(FIRST)
    pace.add(SECOND)
    time.sleep(0.15)  # longer than libzmq waits here
    pace.add(THIRD)
    assert pace.due() == THIRD


class SomeTopics:
    """Topics of nobody that is connected."""

    def __init__(self) -> None:
        self.are_more = True

    def by_connection(self) -> Counter[int]:
        return Counter()


def test_nobody_is_admitted_while_topics_wait_for_libzmq() -> None:
    pace, topics = HandshakePace(), SomeTopics()
    pace.slow_down()
    pace.add(FIRST)
    pace.add(SECOND)
    assert pace.due() == FIRST
    with zmq.Context() as context, context.socket(zmq.PAIR) as monitor:
        rejections = Rejections(Metrics("test").peers_rejected)
        endpoint = Endpoint("publish.address", "tcp://127.0.0.1:1", SUBSCRIBER, monitor, rejections, pace)

        endpoint.look(topics)
        while_they_wait = pace.due()
        topics.are_more = False
        endpoint.look(topics)

        assert (while_they_wait, pace.due()) == (None, SECOND)
