"""Predictions, or everything that a hub publishes, by iterators."""

import threading
from itertools import islice
from pathlib import Path

import pytest
import zmq

from edged.client import Event, Prediction, SnapshotPicture, Status, listen, recent_events, subscribe
from tests.client.hub_end import Addresses, HubEnd, a_hub
from tests.eventually import LIMIT_S, TURN_MS, TURN_S, eventually, free_port, in_background

SUBSCRIBED = b"\1"  # how an XPUB says it


def test_a_stream_without_a_prediction_times_out() -> None:
    with pytest.raises(TimeoutError, match=r"no prediction from tcp://127\.0\.0\.1:\d+ within 0\.2 s"):
        next(subscribe(f"tcp://127.0.0.1:{free_port()}", timeout_s=0.2))


def test_one_camera_of_several(tmp_path: Path) -> None:
    where = Addresses()
    got: list[Prediction] = []
    with a_hub(tmp_path, where) as hub:
        for camera in ("gate", "door", "gate", "door"):
            hub.publish(camera=camera)
        stream = subscribe(where.stream, camera="door", since_s=60.0, timeout_s=LIMIT_S)
        thread = threading.Thread(target=lambda: got.extend(islice(stream, 2)))
        thread.start()
        eventually(lambda: hub.serve() and len(got) == 2)
        thread.join()
    assert [(each.camera, each.seq) for each in got] == [("door", 1), ("door", 3)]


def test_a_node_whose_predictions_cannot_be_read_times_out_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    with zmq.Context() as context, context.socket(zmq.XPUB) as publisher:
        address = f"tcp://127.0.0.1:{publisher.bind_to_random_port('tcp://127.0.0.1')}"

        def send(stopped: threading.Event) -> None:
            while not stopped.is_set():
                if publisher.poll(TURN_MS) and publisher.recv().startswith(SUBSCRIBED):
                    publisher.send_multipart([b"edged/test/door/prediction", b'{"schema": 2}'])

        def is_told() -> bool:
            with pytest.raises(TimeoutError):
                next(subscribe(address, timeout_s=0.5))
            return f"a message from {address} is left out: not a prediction of schema 1" in caplog.text

        with in_background(send):
            assert eventually(is_told)


@pytest.mark.parametrize("snapshots", [False, True])
def test_it_yields_every_kind_of_message(tmp_path: Path, *, snapshots: bool) -> None:
    where = Addresses()

    def publish(stopped: threading.Event) -> None:
        while not stopped.wait(TURN_S):
            hub.publish()
            hub.event()
            hub.picture()
            hub.status()

    kinds: set[type] = set()
    wanted = {Prediction, Event, Status} | ({SnapshotPicture} if snapshots else set())
    with a_hub(tmp_path, where) as hub, in_background(publish):
        for message in listen(where.stream, node="test", snapshots=snapshots, timeout_s=LIMIT_S):
            kinds.add(type(message))
            if kinds >= wanted and isinstance(message, Status):
                break

    assert kinds == wanted


def test_a_silent_address_times_out() -> None:
    with pytest.raises(TimeoutError, match=r"no message from tcp://127\.0\.0\.1:\d+ within 0\.2 s"):
        next(listen(f"tcp://127.0.0.1:{free_port()}", timeout_s=0.2))


def announce(hub: HubEnd, stopped: threading.Event) -> None:
    """Publish statuses, as a hub does each second."""
    while not stopped.wait(TURN_S):
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
