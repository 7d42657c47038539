"""`edged eval` of a detector."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from edged import Model
from edged.cli import run_command_line
from edged.cli.eval import box_run
from edged.evaluation.annotations import BoxPicture
from edged.messages import Box
from edged.pictures.folders import pictures_in
from tests.cli import models
from tests.evaluation.pictures import picture
from tests.model.detectors import DETECTORS, detector_file

SIZE = WIDTH, HEIGHT = 160, 90
LABELS = ("cat", "dog", "cow")
THRESHOLD = 0.3  # random weights are sure of nothing


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for seed in range(6):
        picture(tmp_path / "photos" / f"{seed}.png", seed, SIZE)
    return tmp_path / "photos"


def detector(folder: Path, name: str = "yolox") -> tuple[Path, list[str]]:
    """A detector's file, and the options that it needs."""
    (folder / "labels.txt").write_text("\n".join(LABELS))
    return detector_file(folder / "net.onnx", name), ["--labels", str(folder / "labels.txt")]


def annotations_of(path: Path, found: Sequence[tuple[Path, Sequence[Box]]]) -> Path:
    """What was found in pictures, as annotations."""
    images = [
        {"id": number, "file_name": picture.name, "width": WIDTH, "height": HEIGHT}
        for number, (picture, _) in enumerate(found)
    ]
    boxes = [
        {
            "image_id": number,
            "category_id": 10 + box.index,
            "bbox": [left * WIDTH, top * HEIGHT, (right - left) * WIDTH, (bottom - top) * HEIGHT],
        }
        for number, (_, several) in enumerate(found)
        for box in several
        for left, top, right, bottom in (box.box,)
    ]
    content = {
        "images": images,
        "categories": [{"id": 10 + index, "name": label} for index, label in enumerate(LABELS)],
        "annotations": [{"id": number, **box} for number, box in enumerate(boxes)],
    }
    path.write_text(json.dumps(content))
    return path


def found_in(photos: Path, model: Path, labels: Path) -> list[tuple[Path, Sequence[Box]]]:
    with Model(model, "numpy", labels=labels, threshold=THRESHOLD) as opened:
        return [(picture, opened.boxes(picture)) for picture in pictures_in(photos)]


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict[str, Any]:
    """What `edged eval --json` prints."""
    assert run_command_line(["eval", *map(str, arguments), "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("name", "device"),
    [("yolox", "numpy"), *(pytest.param(name, "auto", marks=pytest.mark.deep) for name in DETECTORS)],
)
def test_without_annotations_the_boxes_of_onnxruntime_are_right(
    tmp_path: Path, photos: Path, capsys: pytest.CaptureFixture[str], name: str, device: str
) -> None:
    model, options = detector(tmp_path, name)

    found = evaluated(
        capsys, model, *options, "--data", photos, "--threshold", THRESHOLD, "--device", device, "--batch", 4
    )

    assert found["annotations"] is None
    assert found["onnxruntime"] is None  # it is the truth
    assert found["boxes"] > 0
    assert found["map"] == pytest.approx(1, abs=1e-3)
    assert sum(label["boxes"] for label in found["labels"]) == found["boxes"]


def test_annotated_boxes_are_right_and_onnxruntime_stands_beside(
    tmp_path: Path, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, options = detector(tmp_path)
    found = found_in(photos, model, tmp_path / "labels.txt")
    halves = [(picture, boxes[::2]) for picture, boxes in found]
    path = annotations_of(tmp_path / "boxes.json", halves)
    command = (model, *options, "--data", photos, "--annotations", path, "--device", "numpy")

    report = evaluated(capsys, *command)

    assert report["boxes"] == sum(len(boxes) for _, boxes in halves)
    assert 0 < report["map"] < 1
    assert report["recall"] == pytest.approx(1, abs=1e-3)
    assert report["onnxruntime"]["map"] == pytest.approx(report["map"], abs=1e-3)


def test_people_see_the_figures_and_the_labels_that_are_found_worst(
    tmp_path: Path, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, options = detector(tmp_path)
    annotations_of(photos / "annotations.json", found_in(photos, model, tmp_path / "labels.txt"))

    assert run_command_line(["eval", str(model), *options, "--data", str(photos), "--device", "numpy"]) == 0

    printed = capsys.readouterr().out
    assert f"right boxes     {photos / 'annotations.json'}: " in printed
    assert "mAP             100.00 % (overlaps from 0.50 to 0.95)" in printed
    assert "onnxruntime     mAP 100.00 % by 1." in printed
    assert ": +0.00 points here" in printed
    assert "label  boxes" in printed


def test_an_interrupted_run_goes_on_where_it_stopped(
    tmp_path: Path, photos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, options = detector(tmp_path)
    annotations_of(photos / "annotations.json", found_in(photos, model, tmp_path / "labels.txt"))
    command = (model, *options, "--data", photos, "--device", "numpy")
    whole = evaluated(capsys, *command)
    pixels_of, read = BoxPicture.pixels, list[str]()

    def interrupted_at_the_fourth(self: BoxPicture) -> Any:
        read.append(self.path.name)
        if len(read) == 4:
            raise KeyboardInterrupt
        return pixels_of(self)

    monkeypatch.setattr(BoxPicture, "pixels", interrupted_at_the_fourth)
    assert run_command_line(["eval", *map(str, command)]) == 130
    assert "stopped after 2 of 6 pictures" in capsys.readouterr().err

    again = evaluated(capsys, *command)

    assert len(read) == 4 + 4 + 6  # the last ones for onnxruntime
    assert again | {"pictures_per_s": 0} == whole | {"pictures_per_s": 0}
    assert not list((tmp_path / "cache").rglob("*.jsonl"))


def test_pictures_that_cannot_be_judged_are_reported_and_do_not_count(
    tmp_path: Path, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, options = detector(tmp_path)
    found = found_in(photos, model, tmp_path / "labels.txt")
    path = annotations_of(tmp_path / "boxes.json", found)
    (photos / "0.png").write_bytes(b"no picture")
    (photos / "1.png").unlink()
    assert cv2.imwrite(str(photos / "2.png"), np.zeros((WIDTH, HEIGHT, 3), np.uint8))
    command = ["eval", model, *options, "--data", photos, "--annotations", path, "--device", "numpy"]

    assert run_command_line(list(map(str, command))) == 2

    printed = capsys.readouterr()
    assert "0.png is not a picture" in printed.err
    assert f"1 picture of {path} that are not in the folder, such as 1.png" in printed.err
    assert "2.png: has 90×160 pixels, but 160×90 in the annotations; --no-exif reads" in printed.err
    assert "pictures        3 of" in printed.out


def test_a_missing_onnxruntime_is_no_error_where_there_are_annotations(
    tmp_path: Path, photos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, options = detector(tmp_path)
    path = annotations_of(tmp_path / "boxes.json", found_in(photos, model, tmp_path / "labels.txt"))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as where it is not installed
    command = [str(model), *options, "--data", str(photos), "--device", "numpy"]

    assert evaluated(capsys, *command, "--annotations", path)["map"] == 1

    assert run_command_line(["eval", *command]) == 2
    assert "onnxruntime is not installed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param(
            ["--ray", "auto"],
            "--ray: net is a detector, which one machine evaluates: leave --ray out",
            marks=pytest.mark.deep,  # Ray is there for deep tests alone
        ),
        (["--annotations", "absent.json"], "absent.json: cannot be read"),
        (["--data", "absent"], "absent: is not a folder; expected one with pictures"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path,
    photos: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    given: list[str],
    problem: str,
) -> None:
    monkeypatch.setattr(box_run, "annotations_beside", lambda folder: None)
    model, options = detector(tmp_path)

    assert (
        run_command_line(["eval", str(model), *options, "--data", str(photos), "--device", "numpy", *given]) == 2
    )

    assert problem in capsys.readouterr().err


def test_a_truth_without_boxes_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photos").mkdir()
    assert cv2.imwrite(str(tmp_path / "photos" / "black.png"), np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    model, options = detector(tmp_path)
    command = ["eval", model, *options, "--data", tmp_path / "photos", "--device", "numpy", "--resize", "stretch"]

    assert run_command_line(list(map(str, command))) == 2

    assert "onnxruntime finds no box there; --threshold takes boxes of lower scores" in capsys.readouterr().err


def test_annotations_of_a_classifier_are_refused(
    tmp_path: Path, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = models.small_network(tmp_path / "net.onnx")

    assert run_command_line(["eval", str(model), "--data", str(photos), "--annotations", "boxes.json"]) == 2

    assert "--annotations: are for detectors, and net is a classifier" in capsys.readouterr().err
