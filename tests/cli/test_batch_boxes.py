"""`edged batch` with a detector: a row for each box."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyarrow import dataset

from edged import Model
from edged.batch.answers_file import ArchiveAnswer, count_answers, write_answers
from edged.cli import run_command_line
from edged.messages import Box
from tests.batch.archives import answer_files, archive
from tests.cli.command import DEVICES
from tests.model.detectors import detector_file

OPTIONS = ["--threshold", "0.3", "--chunk", "3"]
SIDES = ("left", "top", "right", "bottom")


def command(model: Path, archive: Path, output: Path, *more: str) -> list[str]:
    return ["batch", str(model), "--input", str(archive), "--output", str(output), *OPTIONS, *more]


def rows_of(output: Path) -> dict[tuple[str, int | None], list[dict[str, Any]]]:
    """The rows of each picture, in their order."""
    found = defaultdict(list)
    for row in dataset.dataset(str(output), format="parquet", partitioning="hive").to_table().to_pylist():
        found[row["picture"], row["frame"]].append(row)
    return found


def require_same(rows: Sequence[dict[str, Any]], boxes: Sequence[Box]) -> None:
    if not boxes:
        assert [row["label"] for row in rows] == [None]
        return
    assert [(row["label"], row["index"]) for row in rows] == [(box.label, box.index) for box in boxes]
    for row, box in zip(rows, boxes, strict=True):
        assert (row["score"], *(row[side] for side in SIDES)) == pytest.approx((box.score, *box.box), abs=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_each_picture_has_the_boxes_of_a_plain_loop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    model, root = detector_file(tmp_path / "net.onnx", "yolox"), archive(tmp_path / "all")

    assert run_command_line(command(model, root, tmp_path / "out", "--device", device, "--json")) == 0

    summary = json.loads(capsys.readouterr().out)
    assert (summary["pictures"], summary["problems"]) == (27, 1)
    rows = rows_of(tmp_path / "out")
    assert len(rows) == 27
    [bad] = rows["gate/bad.jpg", None]
    assert bad["problem"].startswith("gate/bad.jpg is not a picture")
    assert {bad[name] for name in ("label", "index", "score", *SIDES)} == {None}
    with Model(model, device, threshold=0.3) as plain:
        pictures = [name for name, frame in rows if frame is None and name != "gate/bad.jpg"]
        found = {name: plain.boxes(root / name) for name in pictures}
    assert any(found.values())
    for name, boxes in found.items():
        require_same(rows[name, None], boxes)


def test_a_run_that_stopped_goes_on_and_its_files_are_those_of_a_whole_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, root = detector_file(tmp_path / "net.onnx", "yolox"), archive(tmp_path / "all")
    whole, output = tmp_path / "whole", tmp_path / "out"
    for folder in (whole, output):
        assert run_command_line(command(model, root, folder, "--device", "numpy")) == 0
    for path in list(output.rglob("part-*.parquet"))[::2]:
        path.unlink()
    capsys.readouterr()

    assert run_command_line(command(model, root, output, "--device", "numpy", "--json")) == 0

    summary = json.loads(capsys.readouterr().out)
    assert (summary["pictures"], summary["problems"]) == (27, 1)
    assert 0 < summary["answered_now"] < 27
    assert answer_files(output) == answer_files(whole)


@pytest.mark.parametrize("changed", [["--threshold", "0.4"], ["--resize", "pad"]])
def test_a_run_with_other_boxes_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: list[str]
) -> None:
    model, root = detector_file(tmp_path / "net.onnx", "yolox"), archive(tmp_path / "all")
    again = command(model, root, tmp_path / "out", "--device", "numpy")
    assert run_command_line(again) == 0

    assert run_command_line([*again, *changed]) == 2

    assert "holds another run, whose `preparation` is" in capsys.readouterr().err


def test_pictures_are_counted_not_rows(tmp_path: Path) -> None:
    box = Box(label="cat", index=1, score=0.5, box=(0.0, 0.25, 0.5, 1.0))
    answers = [
        ArchiveAnswer("a.jpg", 1.5, None, None, boxes=(box, box, box)),
        ArchiveAnswer("b.jpg", 1.5, None, None),
        ArchiveAnswer("c.jpg", 1.5, None, None, problem="bad"),
    ]

    written = write_answers(tmp_path / "part.parquet", answers, {}, of_boxes=True)

    assert (written.pictures, written.problems) == (3, 1)
    assert count_answers(tmp_path / "part.parquet") == written
