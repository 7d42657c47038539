"""A daemon that answers Frigate: a client that follows its protocol gets the boxes of `edged.Model`."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

import edged
from edged import config
from edged.model.package import load_model
from edged.pictures.decode import read_picture
from tests.e2e.daemon import PATIENT, START_S, Daemon, config_in, conserves, run_edged
from tests.eventually import LIMIT_S, eventually
from tests.frigate_client import FrigateClient, Rows
from tests.model.detectors import SIDE, detector_file

PATIENT_MS = int(1000 * LIMIT_S)
CLIENTS, REQUESTS = 50, 10_000
REAL = {"yolox_nano": (416, 416), "FastestDet": (352, 352), "ultraface_rfb_320": (240, 320)}  # height, width


@contextmanager
def serving(folder: Path, *, answer_s: float = LIMIT_S, **sections: Any) -> Iterator[tuple[Daemon, str]]:
    """A daemon whose only camera is Frigate, and its endpoint."""
    address = f"ipc://{folder}/frigate"
    path = detector_file(folder / "net.onnx", "yolox")
    (folder / "labels.txt").write_text("cat\ndog\ncow\n")
    settings = config_in(
        folder,
        cameras={"frigate": {"source": f"frigate:{address}", "answer_s": answer_s}},
        freshness=PATIENT,
        **{"model": {"path": str(path), "labels": str(folder / "labels.txt"), "threshold": 0.3}, **sections},
    )
    with run_edged(folder, config=settings) as daemon:
        yield daemon, address


def boxes_of(model: config.ModelConfig, picture: NDArray[np.uint8]) -> Rows:
    """What `edged.Model` finds in a picture of the size that the network takes, as Frigate's rows."""
    rows = np.zeros((20, 6), np.float32)
    with edged.Model(load_model(model), "numpy") as network:
        for row, box in zip(rows, network.boxes(picture), strict=False):
            left, top, right, bottom = np.clip(box.box, 0, 1)
            row[:] = box.index, box.score, top, left, bottom, right
    return rows


def same(found: Rows, expected: Rows) -> bool:
    return bool(np.allclose(found, expected, atol=1e-4))


def test_frigate_gets_the_boxes_that_the_network_finds(tmp_path: Path) -> None:
    with serving(tmp_path) as (daemon, address), FrigateClient(address, timeout_ms=PATIENT_MS) as client:
        model = config.ModelConfig(**daemon.config["model"])
        picture = np.random.default_rng(3).integers(0, 256, (SIDE, SIDE, 3)).astype(np.uint8)
        of_bytes = client.detect(picture[None])
        (prediction,) = daemon.first(1, since_s=LIMIT_S)
        of_floats = client.detect((picture.transpose(2, 0, 1)[None] / 255).astype(np.float32), "yologeneric")
        wrong = client.detect(np.zeros((1, 8, 8, 3), np.uint8))
        eventually(lambda: 'edged_serve_refused_total{camera="frigate",reason="size"} 1.0' in daemon.metrics())
        assert 'edged_serve_late_total{camera="frigate"} 0.0' in daemon.metrics()
        summary = daemon.stop()

    expected = boxes_of(model, picture)
    assert expected.any()
    assert same(of_bytes, expected)
    assert same(of_floats, expected)
    assert not wrong.any()
    assert prediction.camera == "frigate"
    assert prediction.boxes is not None
    assert [box.score for box in prediction.boxes] == pytest.approx(expected[:, 1][expected[:, 1] > 0], abs=1e-4)
    assert (summary["captured"], summary["predictions"]) == (2, 2)


@pytest.mark.parametrize("verb", ["worker", "camera"])
def test_a_session_goes_on_when_a_process_is_killed(tmp_path: Path, verb: str) -> None:
    with serving(tmp_path, answer_s=0.19) as (daemon, address), FrigateClient(address) as client:
        picture = np.random.default_rng(3).integers(0, 256, (1, SIDE, SIDE, 3)).astype(np.uint8)
        eventually(lambda: client.detect(picture).any())
        os.kill(daemon.child(verb).pid, signal.SIGKILL)
        eventually(lambda: "was killed by SIGKILL" in daemon.log())
        eventually(lambda: client.detect(picture).any())
        assert client.is_ready
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_ten_thousand_requests_at_once_are_all_answered_and_none_is_lost(tmp_path: Path) -> None:
    picture = np.random.default_rng(3).integers(0, 256, (1, SIDE, SIDE, 3)).astype(np.uint8)

    def session(_: int) -> int:
        with FrigateClient(address, timeout_ms=PATIENT_MS) as client:
            answers = [client.detect(picture) for _ in range(REQUESTS // CLIENTS)]
            assert client.timeouts == 0
            assert all(same(rows, expected) for rows in answers if rows.any())
        return sum(bool(rows.any()) for rows in answers)

    with serving(tmp_path, answer_s=0.19) as (daemon, address), ThreadPoolExecutor(CLIENTS) as pool:
        expected = boxes_of(config.ModelConfig(**daemon.config["model"]), picture[0])
        found = sum(pool.map(session, range(CLIENTS)))
        summary = daemon.stop()

    assert summary["captured"] == REQUESTS
    assert conserves(summary)
    assert 0 < found <= summary["predictions"]


@pytest.mark.deep
@pytest.mark.parametrize("name", REAL)
def test_frigate_gets_the_boxes_of_real_networks(tmp_path: Path, shared_data: Path, name: str) -> None:
    height, width = REAL[name]
    model = {"path": str(shared_data / f"detection/{name}.onnx")}
    files = sorted((shared_data / "detection/pictures").glob("*.jpg"))[:8]
    pictures = [cv2.resize(read_picture(file), (width, height)) for file in files]

    with (
        serving(tmp_path, model=model, workers=[{"device": "auto"}]) as (daemon, address),
    ):
        eventually(lambda: "worker local-0 is ready" in daemon.log(), START_S)  # Frigate itself waits for 30 s
        with FrigateClient(address, f"{name}.onnx", timeout_ms=PATIENT_MS) as client:
            found = [client.detect(np.ascontiguousarray(picture, np.uint8)[None]) for picture in pictures]

    assert any(rows.any() for rows in found)
    for rows, picture in zip(found, pictures, strict=True):
        assert np.allclose(rows, boxes_of(config.ModelConfig(**model), np.asarray(picture, np.uint8)), atol=1e-2)
