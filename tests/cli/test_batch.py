"""`edged batch` on this machine."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import dataset

from edged import Model
from edged.cli import run_command_line
from edged.system.exclusive_lock import try_lock
from edged.system.python_packages import install_command
from tests.batch.archives import answer_files, archive, unfinished_files
from tests.cli import models
from tests.cli.command import DEVICES
from tests.eventually import eventually

PREPARED = ["--scale", "1/255"]


def command(model: str | Path, archive: Path, output: Path, *more: str) -> list[str]:
    return ["batch", str(model), "--input", str(archive), "--output", str(output), "--chunk", "3", *more]


def rows_of(output: Path) -> list[dict[str, Any]]:
    """All answers, with the day and the camera from the names of their folders, in the order of pictures."""
    table = dataset.dataset(str(output), format="parquet", partitioning="hive").to_table()
    rows: list[dict[str, Any]] = table.to_pylist()
    return sorted(rows, key=lambda row: (row["picture"], row["frame"] or 0))


def kill_after(start: list[str], output: Path, files: int) -> None:
    """Start a run, and kill it once so many files are written."""
    running = subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: running.poll() is not None or len(answer_files(output)) >= files)
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL, "it had ended before"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return models.small_network(tmp_path / "model.onnx")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("batch", [1, 4])
def test_each_picture_has_the_answer_of_a_plain_loop(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str], device: str, batch: int
) -> None:
    root, output = archive(tmp_path / "all"), tmp_path / "answers"
    options = ["--device", device, "--batch", str(batch), "--top", "2", "--json", *PREPARED]

    assert run_command_line(command(model, root, output, *options)) == 0

    printed = capsys.readouterr()
    summary = json.loads(printed.out)
    assert (summary["pictures"], summary["problems"], summary["answered_now"]) == (27, 1, 27)
    assert "1 picture without an answer" in printed.err
    rows = rows_of(output)
    assert Counter((str(row["day"]), row["camera"]) for row in rows) == {
        ("2026-01-05", "door"): 4,
        ("2026-01-06", "door"): 4,
        ("2026-01-05", "gate"): 5,
        ("2026-01-06", "gate"): 14,
    }
    [bad] = [row for row in rows if row["problem"]]
    assert bad["problem"].startswith("gate/bad.jpg is not a picture")
    assert (bad["label"], bad["top"]) == (None, [])
    with Model(model, device, scale=1 / 255) as plain:
        for row in (row for row in rows if row["picture"].endswith(".png")):
            best = plain.top(plain(root / row["picture"]), 2)
            assert [each["index"] for each in row["top"]] == [label.index for label in best]
            np.testing.assert_allclose([each["score"] for each in row["top"]], [b.score for b in best], rtol=1e-4)
            assert (row["label"], row["score"]) == (row["top"][0]["label"], row["top"][0]["score"])
    frames = [row for row in rows if row["picture"] == "gate/clip.avi"]
    assert [(row["frame"], round(row["at_s"], 3)) for row in frames] == [(n, n / 25) for n in range(10)]


@pytest.mark.deep
def test_a_run_that_is_killed_goes_on_and_its_files_are_those_of_a_whole_run(tmp_path: Path) -> None:
    root = archive(tmp_path / "all", each=20, size=120)
    whole, output = tmp_path / "whole", tmp_path / "answers"
    options = ["--device", "numpy", "--threads", "1"]

    def started(folder: Path) -> list[str]:
        """Each run is a process: NumPy, which is loaded here already, has its one thread there alone."""
        return [sys.executable, "-m", "edged", *command("digits", root, folder, *options)]

    for files in (1, 4, 7):
        kill_after(started(output), output, files)
    cut_off = output / "day=2026-01-05" / "camera=door" / ".part-00000000.parquet-0badcafe"
    cut_off.touch()

    for each in (whole, output):
        subprocess.run(started(each), check=True)

    assert answer_files(output) == answer_files(whole)
    assert list(unfinished_files(output)) == []
    assert len(rows_of(output)) == 4 * 20 + 1 + 10


def test_a_run_that_is_done_computes_nothing(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, output = archive(tmp_path / "all"), tmp_path / "answers"
    again = command(model, root, output, "--device", "numpy", "--json", *PREPARED)
    assert run_command_line(again) == 0
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*.parquet")}
    capsys.readouterr()

    assert run_command_line(again) == 0

    summary = json.loads(capsys.readouterr().out)
    assert (summary["pictures"], summary["problems"], summary["answered_now"]) == (27, 1, 0)
    assert {path: path.stat().st_mtime_ns for path in output.rglob("*.parquet")} == before


def test_the_output_of_another_run_is_refused_and_stays(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, output = archive(tmp_path / "all"), tmp_path / "answers"
    assert run_command_line(command(model, root, output, "--device", "numpy", *PREPARED)) == 0
    before = answer_files(output)
    capsys.readouterr()
    other = models.small_network(tmp_path / "other.onnx", largest=2.0)

    for changed, key in [
        (command(other, root, output, *PREPARED), "model"),
        (command(model, root, output, "--scale", "1"), "preparation"),
        (command(model, root, output, *PREPARED, "--stride", "2"), "stride"),
        (command(model, root / "door", output, *PREPARED), "input"),
    ]:
        assert run_command_line([*changed, "--device", "numpy"]) == 2
        assert f"holds another run, whose `{key}` is" in capsys.readouterr().err
    assert answer_files(output) == before


@pytest.mark.parametrize("what", ["foreign", "damaged", "locked", "file"])
def test_a_folder_that_cannot_be_used_is_refused(
    tmp_path: Path,
    model: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    what: str,
) -> None:
    root, output = archive(tmp_path / "all"), tmp_path / "answers"
    run = command(model, root, output, "--device", "numpy", *PREPARED)
    expected = {
        "foreign": "is not empty, and holds no run",
        "damaged": "run.json: is damaged",
        "locked": "another `edged batch` writes there",
        "file": "cannot be used: ",
    }
    if what == "file":
        output.write_text("mine")
    elif what == "foreign":
        output.mkdir()
        (output / "mine.txt").write_text("mine")
    elif what == "damaged":
        (output / "_edged").mkdir(parents=True)
        (output / "_edged" / "run.json").write_text("{")
    elif what == "locked":
        (output / "_edged").mkdir(parents=True)
        lock = (output / "_edged" / "lock").open("w")
        request.addfinalizer(lock.close)
        assert try_lock(lock.fileno())

    assert run_command_line(run) == 2
    assert expected[what] in capsys.readouterr().err


def test_an_archive_without_pictures_is_refused_and_can_be_filled(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all").mkdir()
    run = command(model, tmp_path / "all", tmp_path / "answers", "--device", "numpy", *PREPARED)

    assert run_command_line(run) == 2
    assert "holds no pictures or videos" in capsys.readouterr().err

    archive(tmp_path / "all")
    assert run_command_line(run) == 0
    assert len(rows_of(tmp_path / "answers")) == 27


def test_names_of_cameras_and_files_survive(tmp_path: Path, model: Path) -> None:
    root, output = archive(tmp_path / "all", each=1), tmp_path / "answers"
    (root / "gate").rename(root / "Tür=1 %")
    os.rename(root / "door", os.fsencode(root) + b"/d\xff")

    assert run_command_line(command(model, root, output, "--device", "numpy", *PREPARED)) == 0

    rows = rows_of(output)
    assert {row["camera"] for row in rows} == {"Tür=1 %", "d?"}
    assert {row["picture"] for row in rows if row["camera"] == "d?"} == {
        r"d\xff/2026-01-05-000.png", r"d\xff/2026-01-06-000.png",
    }  # fmt: skip
    assert [row["problem"] for row in rows if row["camera"] == "d?"] == [None, None]


@pytest.mark.parametrize(("module", "package"), [("ray", "ray[data,default]"), ("pyarrow", "pyarrow")])
def test_a_missing_package_is_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    package: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed

    assert run_command_line(command("digits", tmp_path, tmp_path / "answers", "--ray", "auto")) == 2
    assert f" needs {package}: {install_command(package)}" in capsys.readouterr().err
