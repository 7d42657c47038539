"""`edged.Model` of a detector: the boxes of a picture."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import edged
from edged import config
from edged.errors import ModelError
from edged.messages import Box, boxes_of
from edged.model import reference
from edged.model.package import Model, load_model
from edged.pictures.decode import read_picture
from edged.pictures.folders import pictures_in
from edged.pictures.placement import Placement
from edged.pictures.prepare import placement, prepare
from tests.cli.command import DEVICES
from tests.cli.models import small_network
from tests.model.detectors import DETECTORS, detector_file
from tests.model.onnx_files import onnxruntime_all_outputs

CLOSE = 1e-3  # of a box's sides, as shares of the picture
THRESHOLD = 0.3  # random weights are sure of nothing


def noise(height: int = 90, width: int = 160) -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (height, width, 3), np.uint8)


def by_onnxruntime(path: Path, model: Model, picture: NDArray[np.uint8]) -> tuple[Box, ...]:
    """The boxes of the outputs that onnxruntime computes for the same picture."""
    assert model.detector
    x = reference.prepare(prepare(picture, model.input)[np.newaxis], model.input)
    outputs = onnxruntime_all_outputs(path, x)[0].astype(np.float32)
    where = placement(picture.shape[1], picture.shape[0], model.input)
    return boxes_of(model.detector.boxes(outputs, where), model.labels)


def require_same(found: tuple[Box, ...], expected: tuple[Box, ...]) -> None:
    assert [box.label for box in found] == [box.label for box in expected]
    assert [box.score for box in found] == pytest.approx([box.score for box in expected], abs=CLOSE)
    for one, other in zip(found, expected, strict=True):
        assert one.box == pytest.approx(other.box, abs=CLOSE)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", DETECTORS)
def test_boxes_are_those_of_onnxruntimes_outputs(tmp_path: Path, device: str, name: str) -> None:
    path = detector_file(tmp_path / "net.onnx", name)
    loaded, picture = load_model(config.ModelConfig(path=path, threshold=THRESHOLD)), noise()

    with edged.Model(loaded, device) as model:
        found = model.boxes(picture)

    assert found
    require_same(found, by_onnxruntime(path, loaded, picture))


def test_boxes_are_shares_of_the_picture_not_of_the_networks_input(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "yolox")
    loaded, picture = load_model(config.ModelConfig(path=path, threshold=THRESHOLD)), noise(90, 180)
    in_input = Placement(0, 0, 64, 64)  # the picture fills half of it, at the upper edge

    with edged.Model(loaded, "numpy") as model:
        best = model.boxes(picture)[0]
        outputs = model.outputs(picture)

    assert loaded.detector
    left, top, right, bottom = loaded.detector.boxes(outputs, in_input)[0].box
    assert best.box == pytest.approx((left, min(2 * top, 1), right, min(2 * bottom, 1)), abs=1e-6)


def test_a_classifier_gives_no_boxes(tmp_path: Path) -> None:
    with edged.Model(str(small_network(tmp_path / "net.onnx")), "numpy", preprocess="unit") as model:
        assert not model.is_detector
        with pytest.raises(ModelError, match="net is a classifier: it gives scores, no boxes"):
            model.boxes(noise())


def test_a_detector_gives_no_scores(tmp_path: Path) -> None:
    with edged.Model(str(detector_file(tmp_path / "net.onnx", "yolox")), "numpy") as model:
        assert model.is_detector
        with pytest.raises(ModelError, match="net is a detector: it finds boxes"):
            model(noise())


def test_outputs_that_are_not_finite_are_reported(tmp_path: Path) -> None:
    with edged.Model(str(detector_file(tmp_path / "net.onnx", "yolox")), "numpy") as model:
        outputs = model.outputs(noise())
        outputs[7] = np.nan
        with pytest.raises(ModelError, match="1 of the network's 672 outputs are NaN or infinite"):
            model.boxes_in(outputs, 160, 90)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "decode", "least"),
    [("yolox_nano", "yolox", 100), ("FastestDet", "fastestdet", 100), ("ultraface_rfb_320", "ultraface", 20)],
)
def test_real_detectors_find_what_onnxruntime_finds(shared_data: Path, name: str, decode: str, least: int) -> None:
    folder = shared_data / "detection"
    path = folder / f"{name}.onnx"
    loaded = load_model(config.ModelConfig(path=path))
    count = 0

    with edged.Model(loaded) as model:
        for picture in map(read_picture, pictures_in(folder / "pictures")):
            found = model.boxes(picture)
            require_same(found, by_onnxruntime(path, loaded, picture))
            count += len(found)

    assert loaded.detector
    assert loaded.detector.decode == decode
    assert count >= least
