"""Everything that a hub publishes, as it arrives."""

import threading
from pathlib import Path

import pytest

from edged.client import Event, Prediction, SnapshotPicture, Status, listen, recent_events
from tests.client.hub_end import Addresses, HubEnd, a_hub
from tests.eventually import free_port, in_background


@pytest.mark.parametrize("snapshots", [False, True])
def test_it_yields_every_kind_of_message(tmp_path: Path, *, snapshots: bool) -> None:
    where = Addresses()

    def publish(stopped: threading.Event) -> None:
        while not stopped.wait(0.01):
            hub.publish()
            hub.event()
            hub.picture()
            hub.status()

    kinds: set[type] = set()
    wanted = {Prediction, Event, Status} | ({SnapshotPicture} if snapshots else set())
    with a_hub(tmp_path, where) as hub, in_background(publish):
        for message in listen(where.stream, node="test", snapshots=snapshots, timeout_s=30):
            kinds.add(type(message))
            if kinds >= wanted and isinstance(message, Status):
                break

    assert kinds == wanted


def test_a_silent_address_times_out() -> None:
    with pytest.raises(TimeoutError, match=r"no message from tcp://127\.0\.0\.1:\d+ within 0\.2 s"):
        next(listen(f"tcp://127.0.0.1:{free_port()}", timeout_s=0.2))


def announce(hub: HubEnd, stopped: threading.Event) -> None:
    """Publish statuses, as a hub does each second."""
    while not stopped.wait(0.05):
        hub.status()


def test_what_happened_before_a_program_came_can_be_fetched(tmp_path: Path) -> None:
    where = Addresses()
    with a_hub(tmp_path, where) as hub:
        hub.event()
        hub.event()
        with in_background(lambda stopped: announce(hub, stopped)):
            events = recent_events(where.stream)

    assert [each.event for each in events] == ["camera_up", "camera_up"]
    assert events[0].at <= events[1].at


def test_a_hub_that_is_not_there_has_no_events() -> None:
    with pytest.raises(TimeoutError, match=r"no status from tcp://127\.0\.0\.1:\d+ within 0\.2 s"):
        recent_events(f"tcp://127.0.0.1:{free_port()}", timeout_s=0.2)
