"""Real detectors with half of the bits, or a quarter: the figures of docs/how-to/detect.md."""

import json
from pathlib import Path
from typing import Any

import pytest

from edged.cli import run_command_line

NETWORKS = "yolox_nano", "FastestDet", "ultraface_rfb_320"
EIGHT_BITS = {"FastestDet": 0.68, "ultraface_rfb_320": 0.93}  # least mAP; YOLOX-nano would take seven minutes


@pytest.fixture
def detectors(shared_data: Path) -> Path:
    return shared_data / "detection"


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert run_command_line([*map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.deep
@pytest.mark.parametrize("precision", ["fp32", "fp16-weights"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_boxes_are_those_of_onnxruntime(
    detectors: Path, capsys: pytest.CaptureFixture[str], name: str, precision: str
) -> None:
    found = printed(
        *(capsys, "eval", detectors / f"{name}.onnx", "--data", detectors / "pictures"),
        *("--precision", precision, "--restart"),
    )

    assert found["pictures"] == 40
    assert found["map"] >= (0.999 if precision == "fp32" else 0.99)


@pytest.mark.deep
@pytest.mark.parametrize(("name", "least"), EIGHT_BITS.items())
def test_eight_bits_keep_most_of_the_mean_precision(
    tmp_path: Path, detectors: Path, capsys: pytest.CaptureFixture[str], name: str, least: float
) -> None:
    report = printed(
        *(capsys, "quantize", detectors / f"{name}.onnx", "--images", detectors / "pictures"),
        *("--output", tmp_path / "small.onnx", "--max-loss", 100),
    )

    assert report["map"][0] == pytest.approx(1)
    assert report["map"][1] >= least
    assert report["in_floats"] == []
    assert report["bytes"][1] < report["bytes"][0] / 2
