"""`edged predict` with a detector: boxes in text and JSON, and pictures with the boxes drawn."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from edged.cli import run_command_line
from tests.evaluation.pictures import picture
from tests.model.detectors import detector_file

SIZE = WIDTH, HEIGHT = 160, 90
LABELS = ("cat", "dog", "cow")


def detector(folder: Path) -> list[str | Path]:
    """The options of a detector that finds something in noise."""
    (folder / "labels.txt").write_text("\n".join(LABELS))
    path = detector_file(folder / "net.onnx", "yolox")
    return ["--model", path, "--device", "numpy", "--labels", folder / "labels.txt", "--threshold", "0.3"]


def predict(*arguments: str | Path) -> int:
    return run_command_line(["predict", *map(str, arguments)])


def test_each_box_has_its_label_and_its_corners_as_shares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert predict("--json", picture(tmp_path / "a.png", size=SIZE), *detector(tmp_path)) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["size"] == [WIDTH, HEIGHT]
    assert found["model"]["decoding"] == "yolox, from 84×8 (as its outputs look)"
    scores = [box["score"] for box in found["boxes"]]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0.3
    for box in found["boxes"]:
        left, top, right, bottom = box["box"]
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
        assert box["label"] == LABELS[box["index"]]


def test_text_has_a_line_for_each_box_in_pixels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, options = picture(tmp_path / "a.png", size=SIZE), detector(tmp_path)
    assert predict("--json", path, *options) == 0
    best = json.loads(capsys.readouterr().out)["boxes"][0]

    assert predict(path, *options) == 0

    left, top, right, bottom = np.rint(np.array(best["box"]) * [WIDTH, HEIGHT, WIDTH, HEIGHT]).astype(int)
    output = capsys.readouterr()
    expected = (
        f"  {best['score']:.4f}  {best['index']:4d}  {best['label']}  ({left}, {top}) to ({right}, {bottom})"
    )
    assert output.out.splitlines()[:2] == [str(path), expected]
    assert "edged: boxes are decoded as yolox, from 84×8 (as its outputs look)" in output.err


def test_nothing_found_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cv2.imwrite(str(tmp_path / "black.png"), np.zeros((HEIGHT, WIDTH, 3), np.uint8))

    assert predict(tmp_path / "black.png", *detector(tmp_path), "--resize", "stretch") == 0

    assert "  no box reaches its threshold" in capsys.readouterr().out


def test_boxes_are_drawn_into_one_picture(tmp_path: Path) -> None:
    path, drawn = picture(tmp_path / "a.png", size=SIZE), tmp_path / "drawn.png"

    assert predict(path, *detector(tmp_path), "--draw", drawn) == 0

    before, after = cv2.imread(str(path)), cv2.imread(str(drawn))
    assert before is not None
    assert after is not None
    assert after.shape == before.shape
    assert (after != before).any()


def test_boxes_of_several_pictures_are_drawn_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in" / "below").mkdir(parents=True)
    for path in ("in/a.png", "in/b.bmp", "in/below/a.png"):
        picture(tmp_path / path, size=SIZE)

    assert predict(tmp_path / "in", *detector(tmp_path), "--draw", tmp_path / "out") == 0

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a-2.png", "a.png", "b.png"]


def test_several_pictures_need_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [picture(tmp_path / name, size=SIZE) for name in ("a.png", "b.png")]

    assert predict(*paths, *detector(tmp_path), "--draw", "one.jpg") == 2

    assert "--draw one.jpg: is one picture; for several ones expected a folder" in capsys.readouterr().err


def test_a_classifier_draws_no_boxes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert predict(picture(tmp_path / "a.png", size=SIZE), "--device", "numpy", "--draw", "one.jpg") == 2

    assert "--draw one.jpg: digits is a classifier, and draws no boxes" in capsys.readouterr().err
