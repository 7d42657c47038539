"""The scores of onnxruntime for pictures."""

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from edged.config import ModelConfig
from edged.evaluation.onnxruntime_scores import onnxruntime_scores
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.package import Input, load_model
from edged.quantization.calibration import Calibration, Quantizer
from tests.cli import models
from tests.model.detectors import detector_file
from tests.model.onnx_files import Network, relative_error

WANTED = Input(16, 16, "rgb", 1 / 255, (0.0,) * 3, (1.0,) * 3)
IMAGES = np.random.default_rng(0).integers(0, 256, (2, 16, 16, 3)).astype(np.uint8)


@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16", "DOUBLE", "UINT8"])
@pytest.mark.parametrize("is_channels_last", [False, True])
def test_a_file_gets_pictures_in_its_own_type_and_layout(
    tmp_path: Path, kind: str, is_channels_last: bool
) -> None:
    network = Network(["N", 16, 16, 3] if is_channels_last else ["N", 3, 16, 16])
    network.input_type = TensorProto.DataType.Value(kind)
    network.add("Cast", to=TensorProto.FLOAT)
    if is_channels_last:
        network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(5, 3, 3, 3))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    path = network.save(tmp_path / "model.onnx")
    model = load_model(ModelConfig(path=path, preprocess="raw"))

    found = onnxruntime_scores(path, model.input, IMAGES)

    assert found.scores is not None, found.problem
    expected = reference.run(model.graph, reference.prepare(IMAGES, model.input))
    assert relative_error(found.scores, expected) < 1e-5


@pytest.mark.parametrize("shape", [["N", "rows", "columns", 3], ["N", None, 16, 3], ["N", 3, "rows", None]])
def test_a_file_that_leaves_its_size_open_gets_pictures_in_its_own_layout(
    tmp_path: Path, shape: list[str | int]
) -> None:
    network = Network(shape)
    if shape[3] == 3:
        network.add("Transpose", perm=[0, 3, 1, 2])
    network.add("Conv", network.normal(5, 3, 3, 3))
    network.add("GlobalAveragePool")
    network.add("Flatten")
    path = network.save(tmp_path / "model.onnx")
    model = load_model(ModelConfig(path=path, preprocess="raw", size=16))

    found = onnxruntime_scores(path, model.input, IMAGES)

    assert found.scores is not None, found.problem
    expected = reference.run(model.graph, reference.prepare(IMAGES, model.input))
    assert relative_error(found.scores, expected) < 1e-5


def test_a_file_of_eight_bits_has_exact_sums_on_every_processor(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "yolox")
    model_input = load_model(ModelConfig(path=path)).input
    pictures = np.random.default_rng(0).integers(0, 256, (4, 64, 64, 3)).astype(np.uint8)
    quantizer = Quantizer(read_file(path), Calibration(model_input, pictures, "minmax"))
    small = tmp_path / "small.onnx"
    small.write_bytes(quantizer.quantize().path.read_bytes())
    quantizer.close()

    found = onnxruntime_scores(small, model_input, pictures)

    assert found.scores is not None, found.problem
    graph = load_model(ModelConfig(path=small)).graph
    expected = reference.run(graph, reference.prepare(pictures, model_input)).reshape(4, -1)
    assert relative_error(found.scores, expected) < 1e-3  # where sums saturate: several hundredths


def test_it_is_not_required(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as where it is not installed

    found = onnxruntime_scores(models.small_network(tmp_path / "model.onnx"), WANTED, IMAGES)

    assert found.scores is None
    assert "onnxruntime is not installed" in found.problem


def test_a_file_that_it_does_not_run_is_a_reason_and_no_error(tmp_path: Path) -> None:
    found = onnxruntime_scores(models.truncated(tmp_path / "model.onnx"), WANTED, IMAGES)

    assert found.scores is None
    assert "does not run it" in found.problem
