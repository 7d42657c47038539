"""Each prediction exactly once and in order, whatever is lost on the way."""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from edged.client.stream import PredictionStream
from tests.camera.proxy import Proxy
from tests.client.hub_end import Addresses, HubEnd, Listener, a_hub
from tests.eventually import eventually


@pytest.fixture
def where() -> Addresses:
    return Addresses()


@pytest.fixture
def hub(tmp_path: Path, where: Addresses) -> Iterator[HubEnd]:
    with a_hub(tmp_path, where) as hub:
        yield hub


def connected(hub: HubEnd, listener: Listener) -> None:
    """Until the listener hears the hub: it begins with what comes next."""

    def heard() -> bool:
        hub.publish()
        return hub.serve() and bool(listener.got)

    eventually(heard)


def arrives(hub: HubEnd, listener: Listener) -> None:
    """Until the listener has all that the hub has published."""
    eventually(lambda: hub.serve() and listener.numbers[-1:] == [hub.next_seq - 1])
    first = listener.numbers[0]
    assert listener.numbers == list(range(first, hub.next_seq))


def test_a_gap_is_filled_before_the_prediction_that_shows_it(hub: HubEnd, where: Addresses) -> None:
    with Listener(where.stream) as listener:
        connected(hub, listener)
        hub.publish(5, sent=False)
        hub.publish(2)
        arrives(hub, listener)


def test_a_loss_at_the_end_shows_in_the_status(hub: HubEnd, where: Addresses) -> None:
    with Listener(where.stream) as listener:
        connected(hub, listener)
        hub.publish(5, sent=False)
        arrives(hub, listener)


def test_a_gap_that_takes_several_answers(hub: HubEnd, where: Addresses) -> None:
    with Listener(where.stream) as listener:
        connected(hub, listener)
        hub.publish(1000, sent=False)
        hub.publish(1500, sent=False)
        hub.publish(1)
        arrives(hub, listener)


@pytest.mark.deep
def test_a_subscriber_that_stalls_gets_what_zeromq_has_dropped_from_the_journal(
    hub: HubEnd, where: Addresses
) -> None:
    with Listener(where.stream) as listener:
        connected(hub, listener)
        listener.stall()
        hub.publish(20_000)
        answered = hub.answered
        listener.go_on()
        eventually(lambda: hub.serve() and listener.numbers[-1:] == [hub.next_seq - 1])
        assert listener.numbers == list(range(listener.numbers[0], hub.next_seq))
        assert hub.answered > answered


def test_what_no_journal_kept_is_logged_as_lost_and_left_out(
    hub: HubEnd, where: Addresses, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with Listener(where.stream) as listener:
        connected(hub, listener)
        lost = hub.next_seq
        hub.publish(2, sent=False, kept=False)
        hub.publish(2)
        eventually(lambda: hub.serve() and listener.numbers[-1:] == [hub.next_seq - 1])
        assert not {lost, lost + 1} & set(listener.numbers)
    assert "2 predictions of test" in caplog.text


def test_numbers_of_predictions_that_were_too_old_to_be_published_are_not_reported_as_lost(
    hub: HubEnd, where: Addresses, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with Listener(where.stream) as listener:
        connected(hub, listener)
        hub.withdraw(2)
        hub.publish(2)
        eventually(lambda: hub.serve() and listener.numbers[-1:] == [hub.next_seq - 1])
    assert "lost" not in caplog.text


def test_since_begins_with_what_the_journal_holds(hub: HubEnd, where: Addresses) -> None:
    hub.publish(20, sent=False)
    with Listener(where.stream, since_s=60.0) as listener:
        arrives(hub, listener)
        hub.publish(3)
        arrives(hub, listener)
    assert listener.numbers == list(range(23))


def test_a_hub_that_comes_later_is_waited_for(tmp_path: Path, where: Addresses) -> None:
    with Listener(where.stream) as listener, a_hub(tmp_path, where) as hub:
        connected(hub, listener)
        arrives(hub, listener)


def test_numbers_go_on_over_a_restart_of_the_hub(tmp_path: Path, where: Addresses) -> None:
    with Listener(where.stream) as listener:
        with a_hub(tmp_path, where) as hub:
            connected(hub, listener)
            arrives(hub, listener)
        with a_hub(tmp_path, where) as hub:
            hub.publish(3)  # nobody listens yet
            arrives(hub, listener)


def test_a_hub_that_has_lost_its_journal_counts_anew_and_nothing_of_it_is_missed(
    tmp_path: Path, where: Addresses
) -> None:
    with Listener(where.stream) as listener:
        with a_hub(tmp_path / "before", where) as hub:
            hub.publish(50)
            connected(hub, listener)
            arrives(hub, listener)
        before = len(listener.got)
        shutil.rmtree(tmp_path / "before")
        with a_hub(tmp_path / "after", where) as hub:
            hub.publish(3)
            eventually(lambda: hub.serve() and listener.numbers[before:] == [0, 1, 2])


def test_a_subscriber_that_stops_while_it_fetches_leaves_nothing_open(tmp_path: Path, where: Addresses) -> None:
    with a_hub(tmp_path, where) as hub, zmq.Context() as context:  # which waits for its sockets
        hub.publish(3000)
        stream = PredictionStream(context, where.stream, replay=where.replay, since_s=3600)
        arrivals = stream.arrivals()
        assert eventually(lambda: hub.serve() and next(arrivals))
        stream.close()


@pytest.mark.deep
def test_nothing_newer_is_handed_out_before_a_gap_is_filled_however_long_that_takes(
    tmp_path: Path, where: Addresses, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edged.client.replay.ANSWER_S", 0.3)
    with Proxy(port_of(where.replay)) as proxy:
        through = f"tcp://127.0.0.1:{proxy.port}"
        with Listener(where.stream, replay=through) as listener:
            with a_hub(tmp_path, where) as hub:
                connected(hub, listener)
                arrives(hub, listener)
                before = listener.numbers
                proxy.swallow()
                hub.publish(5, sent=False)
                hub.publish(3)
                eventually(lambda: hub.serve() and "trying again" in caplog.text)
                assert listener.numbers == before
            proxy.cut()
            with a_hub(tmp_path, where) as hub:
                hub.publish(2)
                proxy.let_through()
                arrives(hub, listener)
    assert "lost" not in caplog.text


@pytest.mark.parametrize("garbage", [
    (b"edged/test/door/prediction", b"{"),
    (b"edged/test/door/prediction", b'{"schema": 1}'),
    (b"edged/test/status", b"\xff"),
    (b"edged/test/status",),
    (b"edged/test/door/prediction", b"{}", b"{}"),
    (b"edged/",),
])  # fmt: skip
def test_a_message_that_makes_no_sense_is_logged_and_left_out(
    hub: HubEnd, where: Addresses, garbage: tuple[bytes, ...], caplog: pytest.LogCaptureFixture
) -> None:
    with Listener(where.stream) as listener:
        connected(hub, listener)
        for _ in range(3):
            hub.publish(sent=False)  # the garbage has come in its place
            hub.garble(*garbage)
            hub.publish()
        arrives(hub, listener)
    assert caplog.text.count("is left out") == 1


def test_a_hub_without_a_journal_says_so_and_its_predictions_go_on(
    tmp_path: Path, where: Addresses, hub: HubEnd, caplog: pytest.LogCaptureFixture
) -> None:
    with Listener(where.stream) as listener:
        connected(hub, listener)
        (tmp_path / "journal.sqlite").rename(tmp_path / "elsewhere")
        hub.publish(2, sent=False)
        hub.publish(2)
        eventually(lambda: hub.serve() and listener.numbers[-1:] == [hub.next_seq - 1])
    assert "2 predictions of test" in caplog.text


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])
