"""Scores of networks that do not end in Softmax: in the stream, the states and the metrics."""

import json
from pathlib import Path

import numpy as np
import pytest

from edged.client import subscribe
from edged.pictures.decode import read_picture
from edged.pictures.prepare import fitted
from tests.camera.pictures import write_picture
from tests.e2e.daemon import START_S, config_in, run_edged
from tests.model.score_tails import SIDE, logits, network_with

LABELS = ("cat", "dog", "car", "tree", "sky")


def sigmoids_of(picture: Path, outputs: int) -> np.ndarray:
    pixels = fitted(read_picture(picture), SIDE, SIDE)
    return np.asarray(1 / (1 + np.exp(-logits(pixels[None], outputs)[0])))


@pytest.mark.deep
def test_independent_labels_are_those_that_reach_their_thresholds(tmp_path: Path) -> None:
    picture = write_picture(
        tmp_path / "pictures/a.png", np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)
    )
    scores = dict(zip(LABELS, sigmoids_of(picture, len(LABELS)), strict=True))
    best, *others = sorted(scores, key=lambda label: -scores[label])
    network = network_with(tmp_path / "net.onnx", ("Sigmoid", ["l"], "y"))
    (tmp_path / "labels.txt").write_text("\n".join(LABELS))
    model = {
        "path": str(network),
        "labels": str(tmp_path / "labels.txt"),
        "preprocess": "raw",
        "threshold": 0.0,
        "thresholds": {others[0]: 1.0},
    }
    config = config_in(
        tmp_path,
        cameras={"street": {"source": str(picture.parent), "at_end": "loop"}},
        model=model,
        states={"street": {"labels": others[1:2], "after": 1, "unknown_below": 0.0}},
    )

    with run_edged(tmp_path, config=config) as daemon:
        stream = subscribe(daemon.address, timeout_s=START_S)
        prediction = next(stream)
        next(stream)
        metrics = daemon.metrics()
        daemon.stop()

    assert prediction.model.scores == "independent"
    assert [label.label for label in prediction.top] == [best, *others[1:]]
    assert [label.score for label in prediction.top] == pytest.approx(
        [scores[label] for label in (best, *others[1:])], abs=1e-5
    )
    assert f"camera street sees: {others[1]}" in daemon.log()
    assert f'edged_labels_total{{camera="street",label="{others[2]}"}}' in metrics
    assert "scores are independent: the network's outputs (as its last operators show)" in daemon.log()


@pytest.mark.deep
def test_one_sigmoid_is_two_classes(tmp_path: Path) -> None:
    picture = write_picture(
        tmp_path / "pictures/a.png", np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)
    )
    [share] = sigmoids_of(picture, 1)
    metadata = {"edged.labels": json.dumps(["smoke"]), "edged.preprocess": "raw"}
    tail = ("Sigmoid", ["l"], "y")
    network = network_with(tmp_path / "net.onnx", tail, before=1, outputs=1, metadata=metadata)
    cameras = {"stack": {"source": str(picture.parent), "at_end": "loop"}}

    with run_edged(tmp_path, config=config_in(tmp_path, cameras=cameras, model={"path": str(network)})) as daemon:
        prediction = next(subscribe(daemon.address, timeout_s=START_S))
        daemon.stop()

    found = {label.label: label.score for label in prediction.top}
    assert found == pytest.approx({"smoke": share, "not smoke": 1 - share}, abs=1e-5)
    assert prediction.model.scores == "exclusive"
