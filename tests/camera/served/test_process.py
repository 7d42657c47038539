"""The real process that answers Frigate, between a client that follows the protocol and a hub by hand."""

import json
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import zmq
from numpy.typing import NDArray

from edged.messages import Box, Capture, FrameAnswer, Grant, ServedModel, Stop
from tests.camera.hub_end import SIDE, CameraRun, Received, down_report, running_camera
from tests.eventually import LIMIT_S, eventually
from tests.frigate_client import FrigateClient, rows_in

LABELS = ("cat", "dog")
MODEL = ServedModel(name="net", sha256="0" * 64, labels=LABELS, task="detect", ready=True)
CAT = Box(label="cat", index=0, score=0.5, box=(0.0, 0.125, 0.75, 0.25))
DOG = Box(label="dog", index=1, score=0.75, box=(0.25, 0.0, 0.5, 1.0))
HEADER = b'{"shape": [1, 32, 32, 3], "dtype": "uint8"}'
QUESTION = b'{"model_request": true, "model_name": "net.onnx"}'
LOADED = b'{"model_available":true,"model_loaded":true}'
PATIENT_MS = int(1000 * LIMIT_S)


@contextmanager
def serving(
    folder: Path,
    *,
    granted: int = 100,
    answer_s: float = LIMIT_S,
    model: ServedModel = MODEL,
    side: int = SIDE,
) -> Iterator[tuple[CameraRun, str]]:
    """The process, ready to answer at an address."""
    address = f"ipc://{folder}/frigate"
    settings = f'{{source: "frigate:{address}", answer_s: {answer_s}}}'
    with running_camera(folder, "frigate", settings, capture=False) as camera:
        eventually(camera.hub.has_hello)
        camera.hub.send(Capture(width=side, height=side))
        camera.hub.send(model)
        if granted:
            camera.hub.send(Grant(frames=granted))
        yield camera, address


@contextmanager
def dealer_at(address: str) -> Iterator[zmq.Socket[bytes]]:
    """A socket that sends several requests without waiting, on one connection: they arrive in order."""
    dealer: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
    dealer.connect(address)
    try:
        yield dealer
    finally:
        dealer.close(linger=0)


def picture(value: int = 9) -> NDArray[np.uint8]:
    return np.full((1, SIDE, SIDE, 3), value, np.uint8)


def answer(camera: CameraRun, received: Received, *boxes: Box, dropped: str | None = None) -> None:
    frame = received.frame
    camera.hub.send(FrameAnswer(frame=frame.frame, captured_at=frame.captured_at, boxes=boxes, dropped=dropped))


def refused(camera: CameraRun) -> dict[str, int]:
    report = camera.hub.last_report()
    return report.requests.refused if report and report.requests else {}


def late(camera: CameraRun) -> int:
    report = camera.hub.last_report()
    return report.requests.late if report and report.requests else 0


def test_a_picture_becomes_a_frame_and_its_boxes_the_answer(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as (camera, address),
        FrigateClient(address, timeout_ms=PATIENT_MS) as client,
        ThreadPoolExecutor() as pool,
    ):
        assert client.is_ready
        found = pool.submit(client.detect, picture(9))
        eventually(camera.hub.has_frames)
        [received] = camera.hub.frames
        answer(camera, received, DOG)
        rows = found.result(LIMIT_S)
        report = camera.stop()

    assert (received.pixels == 9).all()
    assert rows[0].tolist() == [1, 0.75, 0.0, 0.25, 1.0, 0.5]
    assert not rows[1:].any()
    assert camera.hub.hello
    assert camera.hub.hello.awaits_answers
    assert (report.count.captured, report.count.dropped) == (1, {})


def test_a_recorded_session_has_the_same_bytes_as_ever(tmp_path: Path) -> None:
    """Requests as Frigate's client sends them, the frames that the hub gets, and the answers, in base64."""
    session = json.loads(Path(__file__).with_name("session.json").read_text())
    frames = 0
    with serving(tmp_path, side=4) as (camera, address), dealer_at(address) as client:
        for exchange in session:
            client.send_multipart([b"", *map(b64decode, exchange["send"])])
            if "frame" in exchange:
                frames += 1
                eventually(partial(camera.hub.has_frames, frames))
                assert camera.hub.frames[-1].pixels.tobytes() == b64decode(exchange["frame"])
                answer(camera, camera.hub.frames[-1], DOG, CAT)
            assert client.poll(PATIENT_MS), exchange["what"]
            assert client.recv_multipart() == [b"", *map(b64decode, exchange["answer"])], exchange["what"]


def test_frigate_waits_for_its_model_until_workers_serve(tmp_path: Path) -> None:
    starting = ServedModel(name="net", sha256="0" * 64, labels=LABELS, task="detect", ready=False)
    with serving(tmp_path, model=starting) as (camera, address), ThreadPoolExecutor() as pool:
        client = pool.submit(FrigateClient, address)
        eventually(camera.hub.last_report)
        assert not client.done()

        camera.hub.send(MODEL)

        with client.result(LIMIT_S) as ready:
            assert ready.is_ready


def test_who_waits_for_another_model_learns_that_it_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "other.onnx").write_bytes(b"weights")  # beside the model that the config names
    starting = ServedModel(name="net", sha256="0" * 64, labels=LABELS, task="detect", ready=False)
    with serving(tmp_path, model=starting) as (camera, address), dealer_at(address) as dealer:
        dealer.send(QUESTION.replace(b"net", b"other"))
        dealer.send(QUESTION)
        eventually(lambda: refused(camera) == {"model": 1})
        camera.hub.send(MODEL)

        assert dealer.poll(PATIENT_MS)
        assert dealer.recv_multipart() == [b'{"model_available":false,"model_loaded":false}']
        assert dealer.poll(PATIENT_MS)
        assert dealer.recv_multipart() == [LOADED]


def test_another_model_is_not_there_and_its_file_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as (camera, address), FrigateClient(address, "other.onnx", data=b"weights") as client:
        assert not client.is_ready
        assert client.ask_for_model("../net.onnx")["model_available"] is False
        assert client.ask_for_model("net.onnx") == {"model_available": True, "model_loaded": True}
        eventually(lambda: refused(camera) == {"model": 2, "upload": 1})


def test_a_classifier_is_never_loaded_for_frigate(tmp_path: Path) -> None:
    classifier = ServedModel(name="net", sha256="0" * 64, labels=LABELS, task="classify", ready=True)
    with serving(tmp_path, model=classifier) as (camera, address), FrigateClient(address) as client:
        assert not client.is_ready
        assert client.ask_for_model("net.onnx") == {"model_available": True, "model_loaded": False}
        camera.hub.send(Stop())
        _, errors = camera.process.communicate(timeout=LIMIT_S)

    assert "model net is a classifier: Frigate needs a detector" in errors


def test_bad_requests_get_zeros_and_are_counted_and_the_next_one_is_answered(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as (camera, address),
        FrigateClient(address, timeout_ms=PATIENT_MS) as client,
        ThreadPoolExecutor() as pool,
    ):
        half = client.request([HEADER])
        lie = client.request([HEADER, b"short"])
        small = client.detect(np.zeros((1, 8, 8, 3), np.uint8))
        assert not rows_in(half).any()
        assert not rows_in(lie).any()
        assert not small.any()
        found = pool.submit(client.detect, picture())
        eventually(camera.hub.has_frames)
        answer(camera, camera.hub.frames[0], DOG)

        assert found.result(LIMIT_S).any()
        assert eventually(lambda: refused(camera)) == {"parts": 1, "header": 1, "size": 1}
        camera.stop()
        _, errors = camera.process.communicate(timeout=LIMIT_S)

    assert "a picture of 8×8: set width: 32 and height: 32 in `model` of Frigate's config" in errors
    assert "but 5 bytes follow: nothing was read" in errors


def test_a_late_answer_is_zeros_and_counted_and_the_session_goes_on(tmp_path: Path) -> None:
    with (
        serving(tmp_path, answer_s=0.05) as (camera, address),
        FrigateClient(address, timeout_ms=PATIENT_MS) as client,
    ):
        assert not client.detect(picture()).any()  # the hub says nothing
        assert not client.detect(picture()).any()
        eventually(lambda: late(camera) == 2)
        assert client.timeouts == 0
        eventually(lambda: camera.hub.has_frames(2))
        answer(camera, camera.hub.frames[0], DOG)  # nobody waits for it any more
        assert not client.detect(picture()).any()
        report = camera.stop()

    assert report.count.captured == 3


def test_a_frame_that_the_hub_drops_is_answered_at_once(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as (camera, address),
        FrigateClient(address, timeout_ms=PATIENT_MS) as client,
        ThreadPoolExecutor() as pool,
    ):
        found = pool.submit(client.detect, picture())
        eventually(camera.hub.has_frames)
        answer(camera, camera.hub.frames[0], dropped="device_error")

        assert not found.result(LIMIT_S).any()
        assert late(camera) == 0


def test_the_newest_of_waiting_requests_is_sent_first(tmp_path: Path) -> None:
    with serving(tmp_path, granted=0) as (camera, address), dealer_at(address) as dealer:
        for value in (1, 2, 3):
            dealer.send_multipart([HEADER, picture(value).tobytes()])
        dealer.send_multipart([QUESTION])
        assert dealer.poll(PATIENT_MS)
        assert dealer.recv_multipart() == [LOADED]  # so the pictures before it were read, too
        camera.hub.send(Grant(frames=1))
        eventually(camera.hub.has_frames)

        assert camera.hub.frames[0].pixels[0, 0, 0] == 3
        report = camera.stop()

        assert report.count.dropped == {"shutdown": 2}
        for _ in range(3):
            assert dealer.poll(PATIENT_MS)
            assert not rows_in(dealer.recv_multipart()).any()


def test_what_a_hub_never_answers_ends_with_zeros_when_the_process_ends(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as (camera, address),
        FrigateClient(address, timeout_ms=PATIENT_MS) as client,
        ThreadPoolExecutor() as pool,
    ):
        found = pool.submit(client.detect, picture())
        eventually(camera.hub.has_frames)
        report = camera.stop()

        assert not found.result(LIMIT_S).any()
        assert report.count.captured == 1


def test_an_address_whose_folder_is_absent_is_reported(tmp_path: Path) -> None:
    settings = f'{{source: "frigate:ipc://{tmp_path}/absent/frigate"}}'
    with running_camera(tmp_path, "frigate", settings, capture=False) as camera:
        report = eventually(lambda: down_report(camera))
        assert report
        assert "its folder does not exist: create it" in str(report.error)

        (tmp_path / "absent").mkdir()

        eventually(lambda: down_report(camera) is None)
        assert camera.hub.reports[-1].up


def test_a_request_without_the_empty_part_of_a_req_is_answered_as_it_came(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, address), dealer_at(address) as dealer:
        dealer.send(QUESTION)
        assert dealer.poll(PATIENT_MS)
        assert dealer.recv_multipart() == [LOADED]

        dealer.send(b"")
        assert dealer.poll(PATIENT_MS)
        assert not rows_in(dealer.recv_multipart()[-2:]).any()
