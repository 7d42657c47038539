"""Subscribers that connect, and subscribe to nothing."""

import time

import pytest

from edged.hub.links import guard as of_guard
from edged.hub.links import handshakes
from tests.eventually import eventually
from tests.hub.guarded_stream import guarded_stream

SILENT_S = 2.2  # by then each end has sent two heartbeats


@pytest.fixture(autouse=True)
def one_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshakes, "MOST_SILENT", 1)
    monkeypatch.setattr(of_guard, "SILENT_S", SILENT_S)


@pytest.mark.parametrize("encrypted", [False, True])
def test_they_are_disconnected_for_those_who_wait_although_they_send_heartbeats(encrypted: bool) -> None:
    with guarded_stream(encrypted=encrypted) as stream:
        stream.crowd()
        stream.admitted()  # the guard's next check sees it; until then one more may be admitted
        for _ in range(3):
            stream.connected()

        stream.subscriber()

        assert stream.rejected("silent") >= 1


@pytest.mark.parametrize("encrypted", [False, True])
def test_they_may_stay_while_nobody_waits_and_are_served_once_they_subscribe(encrypted: bool) -> None:
    with guarded_stream(encrypted=encrypted) as stream:
        stream.crowd()
        silent = stream.admitted()
        connected_s = time.monotonic()
        eventually(lambda: time.monotonic() - connected_s > SILENT_S + 0.5)

        silent.subscribe(b"served")
        stream.serve(silent)

        assert stream.rejected("silent") == 0


@pytest.mark.parametrize("encrypted", [False, True])
def test_who_has_subscribed_counts_no_more(encrypted: bool) -> None:
    with guarded_stream(encrypted=encrypted) as stream:
        stream.crowd()
        for _ in range(5):
            stream.subscriber()

        assert stream.rejected("silent") == 0
