"""`edged quantize` of a detector: the mean average precision of its boxes is kept."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray

from edged.cli import run_command_line
from edged.config import ModelConfig
from edged.model.from_onnx.file import read_file
from edged.model.graph import QuantizedConv
from edged.model.package import load_model
from edged.quantization.box_judge import BoxFrames, BoxJudge
from edged.quantization.calibration import Calibration, Inputs, Quantizer
from edged.quantization.file import LAYERS, last_layers
from edged.quantization.layer_effects import layer_effects
from tests.cli import models
from tests.engine.networks import random_images
from tests.evaluation.pictures import picture
from tests.model.detectors import detector_file, file_with_sizes

SIZE = WIDTH, HEIGHT = 160, 90
OPTIONS = ("--device", "numpy", "--threshold", "0.3", "--method", "minmax")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for seed in range(4):
        picture(tmp_path / "photos" / f"{seed}.png", seed, SIZE)
    return tmp_path / "photos"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return detector_file(tmp_path / "net.onnx", "yolox")


def run(model: onnx.ModelProto, inputs: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    session = ort.InferenceSession(model.SerializeToString())
    return np.concatenate([np.ravel(output) for output in session.run(None, dict(inputs))])


def quantized(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    assert run_command_line(["quantize", *map(str, arguments), *OPTIONS, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_layers_are_of_whole_numbers_and_the_decoding_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path
) -> None:
    target = tmp_path / "small.onnx"

    report = quantized(capsys, source, "--images", photos, "--output", target, "--max-loss", "100")

    assert report["map"][0] == pytest.approx(1)
    assert 0.3 < report["map"][1] < 1
    assert report["in_floats"] == []
    model = load_model(ModelConfig(path=target))
    assert model.detector
    assert model.detector.decode == "yolox"
    assert any(isinstance(operator, QuantizedConv) for operator in model.graph.operators)
    graph = onnx.load(target).graph
    after = set(last_layers(graph)[1])
    assert not [node.name for node in graph.node if node.name in after and "QuantizeLinear" in node.op_type]


def test_a_file_that_reads_the_sizes_of_pictures_is_quantized_without_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], photos: Path
) -> None:
    source, target = file_with_sizes(tmp_path / "net.onnx"), tmp_path / "small.onnx"

    report = quantized(capsys, source, "--images", photos, "--output", target, "--max-loss", "100")

    assert report["in_floats"] == []
    assert [entry.name for entry in onnx.load(target).graph.input] == ["input"]


def test_layers_stay_in_floats_until_no_more_is_lost_than_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path
) -> None:
    whole = quantized(capsys, source, "--images", photos, "--output", tmp_path / "whole.onnx", "--max-loss", "100")
    allowed = 100 * (whole["map"][0] - whole["map"][1]) - 1

    found = quantized(
        capsys, source, "--images", photos, "--output", tmp_path / "best.onnx", "--max-loss", str(allowed)
    )

    assert found["in_floats"]
    assert 100 * (found["map"][0] - found["map"][1]) <= allowed


def test_what_is_calibrated_with_does_not_judge() -> None:
    frames = np.arange(7, dtype=np.uint8).reshape(7, 1, 1, 1)
    pictures = BoxFrames(frames, [(number, 1) for number in range(7)])

    calibrating, judging = pictures.divided(100)
    few, _ = pictures.divided(2)

    assert calibrating.frames.reshape(-1).tolist() == [0, 2, 4, 6]
    assert [width for width, _ in judging.sizes] == [1, 3, 5]
    assert few.frames.reshape(-1).tolist() == [0, 4]


@pytest.fixture
def quantizer(source: Path) -> Iterator[Quantizer]:
    model = load_model(ModelConfig(path=source))
    pictures = random_images(model.input, 4)
    quantizer = Quantizer(read_file(source), Calibration(model.input, pictures, "minmax", is_detector=True))
    yield quantizer
    quantizer.close()


def test_a_detector_with_all_layers_in_floats_is_the_original(quantizer: Quantizer, source: Path) -> None:
    original = onnx.load(source)
    layers = [node.name for node in quantizer.float_file.model.graph.node if node.op_type in LAYERS]

    floats, whole = quantizer.detector(layers), quantizer.detector(())

    assert not [node.op_type for node in floats.graph.node if "QuantizeLinear" in node.op_type]
    x = next(iter(Inputs(original, quantizer.calibration)))
    expected, same, other = (run(model, x) for model in (original, floats, whole))
    np.testing.assert_allclose(same, expected, rtol=1e-4, atol=1e-5)
    assert 0 < np.abs(other - expected).max() < 0.2 * np.ptp(expected)


def test_each_layer_is_quantized_alone_to_find_what_it_disturbs(quantizer: Quantizer) -> None:
    model_input = quantizer.calibration.model_input

    effects = list(layer_effects(quantizer, (model_input.width, model_input.height)))

    names = [node.name for node in quantizer.float_file.model.graph.node if node.op_type in LAYERS]
    assert [each.node for each in effects] == names
    assert sum(each.noise > 0 for each in effects) >= len(effects) - 1
    assert max(each.noise for each in effects) < 0.001
    assert len({each.macs for each in effects}) > 1


def test_a_detector_that_loses_more_than_a_point_is_written_with_a_warning(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    source: Path,
    photos: Path,
) -> None:
    monkeypatch.setattr(BoxJudge, "accuracy_of", lambda *_: 0.985)
    target = tmp_path / "small.onnx"

    assert (
        run_command_line(["quantize", str(source), "--images", str(photos), "--output", str(target), *OPTIONS])
        == 0
    )

    printed = capsys.readouterr()
    assert target.exists()
    assert "mAP 100.00 → 98.50 %, on NumPy" in printed.out
    assert "1.50 points are lost, more than --max-loss 1: try another --method" in printed.err


def test_annotated_boxes_judge_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, photos: Path
) -> None:
    content = {
        "images": [{"id": 1, "file_name": "0.png", "width": WIDTH, "height": HEIGHT}],
        "categories": [{"id": number, "name": str(number)} for number in range(3)],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 0, "bbox": [0, 0, 3, 3]}],
    }
    (photos / "annotations.json").write_text(json.dumps(content))

    report = quantized(capsys, source, "--data", photos, "--output", tmp_path / "small.onnx")

    assert report["map"] == [0, 0]  # no network of random weights finds this box


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["--data", "PHOTOS"], "has no annotations: give --annotations FILE.json, or take --images FOLDER"),
        (["--images", "PHOTOS", "--annotations", "a.json"], "--annotations: are of the pictures in --data FOLDER"),
        (["--images", "PHOTOS", "--threshold", "1", "--resize", "pad"], "finds no box in these pictures"),
    ],
)
def test_what_cannot_judge_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: Path, given: list[str], problem: str
) -> None:
    (tmp_path / "photos").mkdir()
    assert cv2.imwrite(str(tmp_path / "photos" / "black.png"), np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    arguments = [str(tmp_path / "photos") if each == "PHOTOS" else each for each in given]

    assert run_command_line(["quantize", str(source), "--device", "numpy", *arguments]) == 2

    assert problem in capsys.readouterr().err


def test_annotations_of_a_classifier_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], photos: Path
) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    command = ["quantize", model, "--data", photos, "--annotations", "a.json", "--device", "numpy"]

    assert run_command_line(list(map(str, command))) == 2

    assert "--annotations: are for detectors, and model is a classifier" in capsys.readouterr().err


def test_the_last_layers_of_a_detector_are_those_before_its_decoding(source: Path) -> None:
    graph = onnx.load(source).graph
    for number, node in enumerate(graph.node):
        node.name = f"{node.op_type}_{number}"
    kinds = {node.name: node.op_type for node in graph.node}

    layers, others = last_layers(graph)

    assert len(layers) == 6  # boxes and scores, of three strides
    assert {kinds[name] for name in layers} == {"Conv"}
    assert {kinds[name] for name in others} == {"Sigmoid", "Concat", "Reshape", "Transpose"}
    assert not {kinds[name] for name in others} & LAYERS
