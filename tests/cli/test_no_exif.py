"""`--no-exif`: pictures as they are stored, for the figures of loaders that turn none."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.cli import run_command_line
from edged.evaluation.pictures import labelled_pictures
from edged.pictures.decode import read_picture
from tests.camera.pictures import turned_picture, write_picture
from tests.cli import models

PREPARED = ["--preprocess", "unit", "--device", "numpy"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return models.small_network(tmp_path / "model.onnx")


@pytest.fixture
def turned(tmp_path: Path) -> Path:
    """A folder of pictures of the class 0 that their EXIF turns."""
    for seed in range(3):
        turned_picture(tmp_path / "turned/0" / f"{seed}.jpg", seed)
    return tmp_path / "turned"


@pytest.fixture
def stored(tmp_path: Path, turned: Path) -> Path:
    """The same pictures as they are stored, without EXIF."""
    for path in (turned / "0").iterdir():
        write_picture(tmp_path / "stored/0" / f"{path.stem}.png", read_picture(path, upright=False))
    return tmp_path / "stored"


def outputs(model: Path, folder: Path, *options: str) -> Any:
    raw = folder / "raw.npy"
    assert (
        run_command_line(["predict", str(folder), "--model", str(model), "--raw", str(raw), *PREPARED, *options])
        == 0
    )
    return np.load(raw)


def test_predict_reads_pictures_as_they_are_stored(model: Path, turned: Path, stored: Path) -> None:
    as_stored = outputs(model, turned, "--no-exif")

    assert np.array_equal(as_stored, outputs(model, stored))
    assert not np.allclose(as_stored, outputs(model, turned))


def figures(capsys: pytest.CaptureFixture[str], model: Path, data: Path, *options: str) -> dict[str, Any]:
    assert run_command_line(["eval", str(model), "--data", str(data), "--json", *PREPARED, *options]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_eval_reads_pictures_as_they_are_stored(
    capsys: pytest.CaptureFixture[str], model: Path, turned: Path, stored: Path
) -> None:
    upright, as_stored = figures(capsys, model, turned), figures(capsys, model, turned, "--no-exif")

    assert (upright["exif"], as_stored["exif"]) == (True, False)
    assert as_stored["mean_score"] == figures(capsys, model, stored)["mean_score"] != upright["mean_score"]


def test_an_evaluation_is_not_resumed_with_pictures_of_the_other_kind(turned: Path) -> None:
    pictures = labelled_pictures(turned, ("a", "b", "c", "d", "e"))

    assert pictures.without_exif().fingerprint != pictures.fingerprint


def test_batch_reads_pictures_as_they_are_stored_and_resumes_no_run_that_did_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: Path, turned: Path, stored: Path
) -> None:
    from pyarrow.parquet import read_table  # needs NumPy 2, which `make test-lowest` has not

    def scores(folder: Path, *options: str) -> list[float]:
        output = tmp_path / f"answers-{folder.name}"
        command = ["batch", str(model), "--input", str(folder), "--output", str(output), *PREPARED, *options]
        assert run_command_line(command) == 0
        tables = [read_table(path) for path in sorted(output.rglob("*.parquet"))]
        return [score for table in tables for score in table.column("score").to_pylist()]

    assert scores(turned, "--no-exif") == scores(stored)
    again = ["batch", str(model), "--input", str(turned), "--output", str(tmp_path / "answers-turned"), *PREPARED]
    assert run_command_line(again) == 2
    assert "holds another run, whose `preparation` is" in capsys.readouterr().err
