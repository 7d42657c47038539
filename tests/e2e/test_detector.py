"""A daemon with a detector: its boxes are those of `edged.Model`, in the camera's whole picture."""

import json
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest

import edged
from edged import config
from edged.cli import run_command_line
from edged.client import Prediction
from edged.messages import Box
from edged.model.package import load_model
from edged.pictures.decode import read_picture
from tests.e2e.daemon import PATIENT, START_S, config_in, conserves, run_edged
from tests.eventually import eventually
from tests.model.detectors import detector_file

WIDTH, HEIGHT = 160, 90
RIGHT = (0.5, 0.0, 1.0, 1.0)


def pictures(folder: Path) -> Path:
    folder.mkdir()
    pixels = np.random.default_rng(3).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    assert cv2.imwrite(str(folder / "a.png"), pixels)
    return folder / "a.png"


def boxes(prediction: Prediction) -> list[Box]:
    assert prediction.boxes is not None
    return list(prediction.boxes)


def same(found: list[Box], expected: list[Box]) -> bool:
    return [each.label for each in found] == [each.label for each in expected] and all(
        one.box == pytest.approx(other.box, abs=1e-5) for one, other in zip(found, expected, strict=True)
    )


def test_boxes_are_published_in_the_cameras_whole_picture(tmp_path: Path) -> None:
    picture = pictures(tmp_path / "pictures")
    (tmp_path / "labels.txt").write_text("cat\ndog\ncow\n")
    model = {
        "path": str(detector_file(tmp_path / "net.onnx", "yolox")),
        "labels": str(tmp_path / "labels.txt"),
        "threshold": 0.3,
    }
    source = {"source": str(picture.parent), "at_end": "loop", "fps": 5}
    cameras = {"whole": source, "right": {**source, "roi": RIGHT}}
    settings = config_in(tmp_path, cameras=cameras, model=model, freshness=PATIENT)

    with run_edged(tmp_path, config=settings) as daemon:
        of_whole, of_right = (daemon.first(1, camera=name)[0] for name in cameras)
        metrics = daemon.metrics()
        summary = daemon.stop()

    with edged.Model(load_model(config.ModelConfig(**model)), "numpy") as network:
        pixels = read_picture(picture)
        expected = list(network.boxes(pixels))
        in_right = network.boxes(np.ascontiguousarray(pixels[:, WIDTH // 2 :]))
    moved = [
        msgspec.structs.replace(each, box=(0.5 + left / 2, top, 0.5 + right / 2, bottom))
        for each in in_right
        for left, top, right, bottom in [each.box]
    ]
    assert expected
    assert same(boxes(of_whole), expected)
    assert same(boxes(of_right), moved)
    assert {label.label for label in of_whole.top} == {box.label for box in expected}
    assert of_whole.model.scores == "independent"
    assert "net: boxes are decoded as yolox, from 84×8 (as its outputs look)" in daemon.log()
    best = expected[0].label
    assert f'edged_boxes_total{{camera="whole",label="{best}"}}' in metrics
    assert 'edged_decode_seconds_count{worker="local-0"}' in metrics
    assert summary["captured"] == summary["predictions"] + sum(summary["dropped"].values())


def test_an_object_that_stays_keeps_its_number(tmp_path: Path) -> None:
    picture = pictures(tmp_path / "pictures")
    path = detector_file(tmp_path / "net.onnx", "yolox")
    model = {"path": str(path), "threshold": 0.3, "boxes": {"track": True}}
    cameras = {"door": {"source": str(picture.parent), "at_end": "loop", "fps": 5}}
    settings = config_in(tmp_path, cameras=cameras, model=model, freshness=PATIENT)

    with run_edged(tmp_path, config=settings) as daemon:
        predictions = daemon.first(4)

    tracks = [[box.track for box in boxes(each)] for each in predictions if each.frame > 1]
    assert None not in tracks[0]
    assert len({*tracks[0]}) == len(tracks[0]) > 0
    assert all(each == tracks[0] for each in tracks)


@pytest.mark.deep
def test_two_workers_of_a_camera_find_the_same_objects_in_frames_that_come_out_of_order(tmp_path: Path) -> None:
    picture = pictures(tmp_path / "pictures")
    path = detector_file(tmp_path / "net.onnx", "yolox")
    model = {"path": str(path), "threshold": 0.3, "boxes": {"track": True}}
    # more than one worker answers
    cameras = {"door": {"source": str(picture.parent), "at_end": "loop", "fps": 500, "frozen_s": 0}}
    workers = [{"device": "numpy", "group": "both"}] * 2
    settings = config_in(tmp_path, cameras=cameras, model=model, workers=workers, freshness=PATIENT)

    with run_edged(tmp_path, config=settings) as daemon:
        eventually(lambda: len({each.model.worker for each in daemon.first(10)}) == 2, START_S)
        predictions = [each for each in daemon.first(60) if each.frame > 1]
        summary = daemon.stop()

    assert len({each.model.worker for each in predictions}) == 2
    assert len({tuple(box.track for box in boxes(each)) for each in predictions}) == 1
    assert None not in [box.track for box in boxes(predictions[0])]
    assert conserves(summary)


def test_a_config_with_a_detector_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures(tmp_path / "pictures")
    path = detector_file(tmp_path / "net.onnx", "yolox")
    cameras = {"a": {"source": str(tmp_path / "pictures")}}
    settings = config_in(tmp_path, cameras=cameras, model={"path": str(path)})
    (tmp_path / "edged.yaml").write_text(json.dumps(settings))

    assert run_command_line(["check", str(tmp_path / "edged.yaml")]) == 0

    assert "ok       boxes            yolox, from 84×8 (as its outputs look)" in capsys.readouterr().out
