"""Annotations in COCO's format: what is read, and one message for each thing that is wrong."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.errors import DataError
from edged.evaluation.annotations import annotated_pictures, annotations_beside, plain_pictures
from tests.evaluation.pictures import picture

LABELS = ("cat", "dog", "traffic light")
SIDE = 16


def coco() -> dict[str, Any]:
    """Annotations of two pictures: a dog and a crowd of cats in the first one, nothing in the other."""
    return {
        "images": [
            {"id": 7, "file_name": "a.png", "width": SIDE, "height": SIDE},
            {"id": 9, "file_name": "train/b.png", "width": SIDE, "height": SIDE},
        ],
        "categories": [{"id": 3, "name": "Dog"}, {"id": 5, "name": "cat"}, {"id": 6, "name": "no label here"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4]},
            {"id": 2, "image_id": 7, "category_id": 5, "bbox": [0, 0, 16, 16], "area": 90.5, "iscrowd": 1},
        ],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "b.png"):
        picture(tmp_path / "pictures" / name, 0)
    return tmp_path / "pictures"


def saved(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_boxes_have_the_classes_that_their_categories_name(folder: Path, tmp_path: Path) -> None:
    found = annotated_pictures(folder, saved(tmp_path / "boxes.json", coco()), LABELS, None)

    first, second = found.pictures
    assert [box.index for box in first.truths] == [1, 0]
    assert first.truths[0].rectangle == (1, 2, 3, 4)
    assert [(box.area, box.is_crowd) for box in first.truths] == [(12, False), (90.5, True)]
    assert (second.path, second.truths) == (folder / "b.png", ())
    assert found.missing == ()


def test_without_labels_categories_are_classes_in_the_order_of_their_ids(folder: Path, tmp_path: Path) -> None:
    content = coco()
    content["categories"] = [{"id": 8, "name": "cat"}, {"id": 3, "name": "dog"}, {"id": 5, "name": "cow"}]

    found = annotated_pictures(folder, saved(tmp_path / "boxes.json", content), ("0", "1", "2"), None)

    assert [box.index for box in found.pictures[0].truths] == [0, 1]


def test_pictures_that_are_not_in_the_folder_are_named(folder: Path, tmp_path: Path) -> None:
    (folder / "b.png").unlink()

    found = annotated_pictures(folder, saved(tmp_path / "boxes.json", coco()), LABELS, None)

    assert [each.path.name for each in found.pictures] == ["a.png"]
    assert found.missing == ("train/b.png",)


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        (("annotations", 0, "category_id"), 6, "category 'no label here' is neither a label of the model"),
        (("annotations", 0, "category_id"), 4, "an annotation has the category 4, which is not listed"),
        (("annotations", 0, "image_id"), 8, "annotation 1 is of the image 8, which is not listed"),
        (("annotations", 0, "bbox"), [1, 2, 3], r"of length 4.* - at `\$.annotations\[0\].bbox`"),
        (
            ("annotations", 0, "bbox"),
            [9, 2, 9, 4],
            r"annotation 1: the box \[9.0, 2.0, 9.0, 4.0\] leaves its picture",
        ),
        (("annotations", 0, "bbox"), [5, 5, -1, 4], r"annotation 1: \[5.0, 5.0, -1.0, 4.0\] is no box"),
        (("annotations",), [], "holds no annotations; expected COCO's annotations"),
        (("images",), [], "holds no images; expected COCO's annotations"),
        (("categories",), None, r"Expected `array`, got `null` - at `\$.categories`"),
    ],
)
def test_one_message_says_what_is_wrong(
    folder: Path, tmp_path: Path, place: tuple[str | int, ...], value: object, problem: str
) -> None:
    content: Any = coco()
    *way, last = place
    there = content
    for key in way:
        there = there[key]
    there[last] = value

    with pytest.raises(DataError, match=f"boxes.json: .*{problem}"):
        annotated_pictures(folder, saved(tmp_path / "boxes.json", content), LABELS, None)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[]", b"[" * 5000, b""])
def test_a_file_of_something_else_is_refused(folder: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "boxes.json").write_bytes(content)

    with pytest.raises(DataError, match=r"boxes.json: .*expected COCO's annotations"):
        annotated_pictures(folder, tmp_path / "boxes.json", LABELS, None)


def test_other_categories_than_classes_need_labels(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="its 3 categories have names, but the model has no labels for its 4 classes"
    ):
        annotated_pictures(folder, saved(tmp_path / "boxes.json", coco()), ("0", "1", "2", "3"), None)


def test_a_folder_without_the_pictures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()

    with pytest.raises(DataError, match=r"other: holds none of the pictures of .*boxes.json, such as a.png"):
        annotated_pictures(tmp_path / "other", saved(tmp_path / "boxes.json", coco()), LABELS, None)
    with pytest.raises(DataError, match="other: holds no pictures; expected"):
        plain_pictures(tmp_path / "other", None)


@pytest.mark.parametrize(
    "place",
    ["pictures/_annotations.coco.json", "pictures/annotations.json", "annotations/instances_pictures.json"],
)
def test_annotations_are_found_where_datasets_have_them(folder: Path, tmp_path: Path, place: str) -> None:
    assert annotations_beside(folder) is None
    (tmp_path / place).parent.mkdir(exist_ok=True)

    path = saved(tmp_path / place, coco())

    assert annotations_beside(folder) == path


def test_a_quick_estimate_takes_pictures_evenly(tmp_path: Path) -> None:
    for number in range(10):
        picture(tmp_path / f"{number}.png", number)

    found = plain_pictures(tmp_path, 4)

    assert [int(each.path.stem) for each in found.pictures] == list(np.arange(4) * 10 // 4)
