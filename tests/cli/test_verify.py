"""`edged verify`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from edged.cli import run_command_line
from edged.engine.device import list_devices
from tests.cli import models
from tests.engine.wrong_kernels import wrong_kernel
from tests.evaluation.pictures import picture
from tests.model.detectors import detector_file

WRONG_MEAN = ("average_pool", "sum / count", "sum")


@pytest.fixture(autouse=True)
def _a_device() -> None:
    if not list_devices():
        pytest.skip("no GPU, nor another OpenCL device")


def verified(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """What `edged verify --json` prints."""
    assert run_command_line(["verify", *map(str, arguments), "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_right_device_agrees_with_the_reference_and_onnxruntime(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "model.onnx")
    for seed in range(6):
        picture(tmp_path / "photos" / f"{seed}.png", seed)

    options = ["--count", "3", "--preprocess", "imagenet", "--batch", "2", "--html", str(tmp_path / "page.html")]
    found = verified(capsys, model, "--images", tmp_path / "photos", *options)

    assert (found["trusted"], found["begins"], found["pictures"]) == (True, None, 3)
    assert found["scores"]["error"] < 1e-5
    assert found["scores"]["same_class"] == found["onnxruntime"]["same_class"] == 3
    assert found["onnxruntime"]["error"] < 1e-5
    assert [layer["layer"] for layer in found["layers"]] == ["pictures", "a", "c", "scores"]
    page = (tmp_path / "page.html").read_text()
    assert page.count("data:image/jpeg;base64,") == page.count("onnxruntime: ") == 3
    assert page.count("<circle") == 2 * 4 + 2  # two errors of each layer, and the legend
    assert "may be trusted with model</h1>" in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)  # loads nothing else


def test_of_a_detector_each_output_and_the_labels_of_boxes_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = detector_file(tmp_path / "model.onnx", "ssd")

    found = verified(capsys, model)

    assert found["trusted"]
    assert found["scores"]["error"] < 1e-4
    assert found["scores"]["same_labels"] == found["onnxruntime"]["same_labels"] == 2
    assert found["onnxruntime"]["error"] < 1e-4


def test_a_wrong_device_is_named_with_the_layer_and_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "model.onnx")

    with wrong_kernel(WRONG_MEAN):
        assert run_command_line(["verify", str(model), "--preprocess", "unit"]) == 3

    printed = capsys.readouterr()
    assert "must not be trusted with model: the error begins at c (average_pool)" in printed.out
    assert [line.split()[0] for line in printed.out.splitlines() if line.endswith("<- wrong")] == ["c"]
    assert "random images are compared" in printed.err


def test_layers_of_the_host_are_listed_and_those_behind_them_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "model.onnx", activation="Sin")

    found = verified(capsys, model, "--preprocess", "unit")

    assert found["trusted"]
    layers = {layer["layer"]: layer for layer in found["layers"]}
    assert (layers["b"]["variant"], layers["b"]["compared"]) == ("on_host", False)
    assert layers["b"]["total"] < 1e-5
    assert 0 < layers["c"]["own"] < 1e-5


def test_numpy_is_the_reference_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["verify", "digits", "--device", "numpy"]) == 2

    assert "device numpy is the reference" in capsys.readouterr().err


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("squeezenet_fp16", ["--preprocess", "caffe", "--mean", "104,117,123"], 5e-3),  # there in float16
        ("resnet20_cifar10", ["--preprocess", "imagenet", "--size", "32"], 1e-4),
        ("resnet56_cifar10", ["--preprocess", "imagenet", "--size", "32"], 1e-4),
        ("resnet8_mlperf_tiny", ["--preprocess", "raw"], 1e-4),
    ],
)
def test_real_networks_are_verified_on_photos(
    name: str, options: list[str], error: float, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = shared_data / "photos"

    found = verified(capsys, shared_data / "models" / f"{name}.onnx", "--images", photos, *options)

    assert found["trusted"]
    assert found["scores"]["error"] < 1e-4
    assert found["scores"]["same_class"] == found["pictures"] == 15
    assert found["onnxruntime"]["error"] < error
    assert found["onnxruntime"]["same_class"] == 15
