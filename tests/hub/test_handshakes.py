"""How fast the peers of an endpoint are admitted."""

import math
import time

import pytest

from edged.hub.links import handshakes
from edged.hub.links.handshakes import HandshakePace
from tests.eventually import eventually

FIRST, SECOND, THIRD = [b"first"], [b"second"], [b"third"]


def test_one_is_admitted_after_the_other_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshakes, "EACH_S", 0.2)
    pace = HandshakePace()
    pace.add(FIRST)
    pace.add(SECOND)
    start_s = time.monotonic()
    assert pace.due() == FIRST
    assert pace.due() is None
    assert 0 < pace.due_s() <= 0.2
    assert eventually(pace.due) == SECOND
    assert time.monotonic() - start_s >= 0.2
    assert pace.due_s() == math.inf


def test_fewer_are_admitted_after_one_that_sent_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshakes, "EACH_OF_A_CROWD_S", 5.0)
    pace = HandshakePace()
    pace.slow_down()
    pace.add(FIRST)
    pace.add(SECOND)
    assert pace.due() == FIRST
    assert pace.due_s() > 4


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
