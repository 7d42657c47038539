import threading
from itertools import islice
from pathlib import Path

import pytest
import zmq

from edged.client import Prediction, subscribe
from tests.client.hub_end import Addresses, a_hub
from tests.eventually import eventually, free_port


def test_a_stream_without_a_prediction_times_out() -> None:
    with pytest.raises(TimeoutError, match=r"no prediction from tcp://127\.0\.0\.1:\d+ within 0\.2 s"):
        next(subscribe(f"tcp://127.0.0.1:{free_port()}", timeout_s=0.2))


def test_one_camera_of_several(tmp_path: Path) -> None:
    where = Addresses()
    got: list[Prediction] = []
    with a_hub(tmp_path, where) as hub:
        for camera in ("gate", "door", "gate", "door"):
            hub.publish(camera=camera)
        stream = subscribe(where.stream, camera="door", since_s=60.0, timeout_s=5.0)
        thread = threading.Thread(target=lambda: got.extend(islice(stream, 2)))
        thread.start()
        eventually(lambda: hub.serve() and len(got) == 2)
        thread.join()
    assert [(each.camera, each.seq) for each in got] == [("door", 1), ("door", 3)]


def test_a_node_whose_predictions_cannot_be_read_times_out_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    with zmq.Context() as context, context.socket(zmq.XPUB) as publisher:
        port = publisher.bind_to_random_port("tcp://127.0.0.1")
        stream = subscribe(f"tcp://127.0.0.1:{port}", timeout_s=0.5)

        def send() -> None:
            publisher.recv()  # somebody has subscribed
            publisher.send_multipart([b"edged/test/door/prediction", b'{"schema": 2}'])

        thread = threading.Thread(target=send)
        thread.start()
        with pytest.raises(TimeoutError):
            next(stream)
        thread.join()
    assert f"a message from tcp://127.0.0.1:{port} is left out: not a prediction of schema 1" in caplog.text
