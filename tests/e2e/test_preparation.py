"""How a picture becomes a network's input: in the daemon as in `edged predict`."""

import json
from pathlib import Path

import numpy as np
import pytest

from edged.client import subscribe
from edged.messages import Label
from tests.camera.pictures import write_picture
from tests.cli.command import edged
from tests.cli.models import CLASSES, small_network
from tests.e2e.daemon import START_S, config_in, run_edged

ROI = (0.25, 0.0, 1.0, 1.0)


@pytest.mark.deep
def test_the_daemon_answers_a_picture_as_predict_does(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (120, 160, 3), np.uint8)
    whole = write_picture(tmp_path / "pictures/a.png", pixels)
    part = write_picture(tmp_path / "part.png", pixels[:, 40:])
    model = small_network(tmp_path / "small.onnx")
    source = {"source": str(whole.parent), "at_end": "loop"}
    cameras = {"whole": source, "part": {**source, "roi": ROI}}
    config = config_in(tmp_path, cameras=cameras, model={"path": str(model), "preprocess": "imagenet"})

    with run_edged(tmp_path, config=config) as daemon:
        published: dict[str, tuple[Label, ...]] = {}
        stream = subscribe(daemon.address, timeout_s=START_S)
        while len(published) < len(cameras):
            prediction = next(stream)
            published[prediction.camera] = prediction.top
        daemon.stop()

    options: list[str | Path] = ["--model", model, "--preprocess", "imagenet", "--device", "numpy", "--json"]
    answers = [json.loads(line) for line in edged("predict", whole, part, *options).stdout.splitlines()]
    for camera, answer in zip(("whole", "part"), answers, strict=True):
        expected = {each["index"]: each["score"] for each in answer["top"]}
        assert {label.index: label.score for label in published[camera]} == pytest.approx(expected, abs=1e-6)
    said = (
        "pictures are prepared as imagenet: resize the shorter side to 18, crop the centre 16×16, RGB, scale 1/255"
    )
    assert daemon.log().count(said) == 1


@pytest.mark.deep
def test_eval_counts_the_answers_that_the_daemon_publishes(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for label in range(CLASSES):  # the camera publishes the sub-folder as the truth
        pixels = random.integers(0, 256, (40 + 10 * label, 70, 3), np.uint8)
        write_picture(tmp_path / f"pictures/{label}/a.png", pixels)
    model = small_network(tmp_path / "small.onnx")
    cameras = {"all": {"source": str(tmp_path / "pictures"), "at_end": "loop"}}
    config = config_in(tmp_path, cameras=cameras, model={"path": str(model), "preprocess": "imagenet"})

    with run_edged(tmp_path, config=config) as daemon:
        published: dict[str, Label] = {}
        stream = subscribe(daemon.address, timeout_s=START_S)
        while len(published) < CLASSES:
            prediction = next(stream)
            published[str(prediction.truth)] = prediction.top[0]
        daemon.stop()

    options: list[str | Path] = ["--preprocess", "imagenet", "--device", "numpy", "--json"]
    found = json.loads(edged("eval", model, "--data", tmp_path / "pictures", *options).stdout)
    assert found["confusion"] == sorted([int(truth), answer.index, 1] for truth, answer in published.items())
    scores = [answer.score for answer in published.values()]
    assert found["mean_score"] == pytest.approx(sum(scores) / CLASSES, abs=1e-6)


def test_a_default_is_said_once_with_what_to_add(tmp_path: Path) -> None:
    with run_edged(tmp_path, "--count", "5") as daemon:
        daemon.end()

    assert daemon.log().count("nothing says how pictures are prepared") == 1
    assert "add `preprocess: imagenet` to `model:`" in daemon.log()
