"""`edged bench --energy`: milliseconds, joules and right answers of the same plan."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from edged.cli import run_command_line
from edged.cli.bench import energy as metering
from edged.energy import reader
from tests.cli.models import small_network
from tests.energy.sysfs import JETSON, jetson
from tests.eventually import LIMIT_S

WATTS = sum(volts * current for name, volts, current in JETSON.values() if name != "VDD_IN") * 1e-6
LABELS = "abcde"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metering, "IDLE_S", 0.1)
    monkeypatch.setattr(metering, "METERED_S", 0.1)
    monkeypatch.setattr(reader, "PATIENCE_S", LIMIT_S)  # a busy machine reads late


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """The same one below each label, where it can be right once, and one of no label."""
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    for place in (*LABELS, ""):
        (tmp_path / "pictures" / place).mkdir(parents=True, exist_ok=True)
        assert cv2.imwrite(str(tmp_path / "pictures" / place / "1.png"), pixels)
    return tmp_path / "pictures"


def bench(*arguments: object) -> None:
    assert run_command_line(["bench", "--energy", "--runs", "2", "--device", "numpy", *map(str, arguments)]) == 0


def model_in(folder: Path) -> tuple[object, ...]:
    (folder / "labels.txt").write_text("\n".join(LABELS))
    return "--model", small_network(folder / "small.onnx"), "--labels", folder / "labels.txt"


def test_joules_and_right_answers_stand_beside_the_time(
    tmp_path: Path, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jetson(tmp_path / "sys")

    bench(*model_in(tmp_path), "--images", pictures, "--sysfs", tmp_path / "sys", "--batch", 2, "--json")

    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    energy = found["energy"]
    assert (energy["method"], energy["rails"]) == ("measured", ["VDD_CPU_GPU_CV", "VDD_SOC"])
    assert energy["watts"] == pytest.approx(WATTS, rel=0.1)
    assert abs(energy["above_idle"]) < 0.1 * energy["joules"]
    assert found["accuracy"] == {"right": 1, "frames": 5, "source": f"pictures of {pictures}"}
    assert found["seconds"]["median"] > 0


@pytest.mark.deep
def test_the_table_says_how_joules_are_known_and_why_labels_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(*model_in(tmp_path), "--sysfs", tmp_path, "--watts-per-core", 5)
    estimated = capsys.readouterr().out
    bench(*model_in(tmp_path), "--sysfs", tmp_path)
    unknown = capsys.readouterr().out

    assert estimated.splitlines()[1].split()[-5:] == ["J", "a", "frame", "W", "right"]
    assert "energy: estimated: 5 W for each second of processor time" in estimated
    assert "energy: none; this machine has no energy or power counter" in unknown
    assert "right: not known: give --images FOLDER" in unknown


def test_the_bundled_model_reads_digits_whose_truth_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("edged.cli.bench.accuracy.MOST", 10)

    bench("--sysfs", tmp_path, "--json")

    accuracy = json.loads(capsys.readouterr().out)["accuracy"]
    assert accuracy["right"] >= 9
    assert (accuracy["frames"], accuracy["source"]) == (10, "synthetic digits")


@pytest.mark.deep  # four plans are compiled
def test_each_precision_has_joules_and_right_answers(
    tmp_path: Path, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = (*model_in(tmp_path), "--images", pictures, "--sysfs", tmp_path, "--watts-per-core", 5)

    bench(*given, "--device", "cpu", "--json")

    by_precision = json.loads(capsys.readouterr().out)["by_precision"]
    assert set(by_precision) == {"fp32", "fp16-weights", "fp16", "bf16"}
    assert all(found["energy"]["joules"] > 0 for found in by_precision.values())
    assert all(found["accuracy"]["frames"] == len(LABELS) for found in by_precision.values())


@pytest.mark.deep
def test_one_precision_is_measured_where_it_was_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = (*model_in(tmp_path), "--sysfs", tmp_path, "--watts-per-core", 5, "--precision", "fp32")

    bench(*given, "--device", "cpu")

    printed = capsys.readouterr().out
    assert "energy: estimated" in printed
    assert "by precision" not in printed
