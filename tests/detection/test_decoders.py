"""Boxes of outputs: what each layout makes of a box that is written into it."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.detection.anchors import face_anchors
from edged.detection.candidates import Candidates
from edged.detection.decoders import DECODERS
from edged.messages.detection import Decode

Floats = NDArray[np.float32]
SIZE = (64, 96)  # height, width
CLASSES, CLASS = 3, 2
CENTRE, SIDES = (44.0, 20.0), (24.0, 16.0)  # of the box: it lies in row 2, column 5 of the grid with stride 8
BOX = (32.0, 12.0, 56.0, 28.0)
GRID = SIZE[0] // 8, SIZE[1] // 8
PLACE = 2 * GRID[1] + 5
ANCHORS = 8 * 12 + 4 * 6 + 2 * 3
SCORE = 0.75


def scores(anchors: int, classes: int = CLASSES, first: int = 0) -> Floats:
    """Scores [anchors, classes] of almost 0, but one of `SCORE`."""
    rows = np.full((anchors, classes), 0.01, np.float32)
    rows[PLACE, first + CLASS] = SCORE
    return rows


def yolox() -> list[Floats]:
    rows = np.zeros((ANCHORS, 5 + CLASSES), np.float32)
    rows[:, 5:] = scores(ANCHORS) / 0.9
    rows[:, 4] = 0.9
    rows[PLACE, :4] = CENTRE[0] / 8 - 5, CENTRE[1] / 8 - 2, *np.log(np.array(SIDES) / 8)
    return [rows]


def as_maps(table: Floats) -> list[Floats]:
    """[anchors, numbers] as [numbers, rows, columns] for each stride."""
    parts = np.split(table.T, [96, 96 + 24], axis=1)
    return [
        np.ascontiguousarray(part.reshape(-1, 64 // stride, 96 // stride))
        for part, stride in zip(parts, (8, 16, 32), strict=True)
    ]


def yolox_by_stride() -> list[Floats]:
    return as_maps(yolox()[0])


def beside_anchors(width: float, height: float, *, with_logits: bool = False) -> list[Floats]:
    """Maps in which the box lies beside the second anchor of its cell, of this width and height."""
    rows = np.zeros((ANCHORS, 5 + CLASSES), np.float32)
    rows[:, 4], rows[:, 5:] = 0.9, scores(ANCHORS) / 0.9
    of_centre = (np.array(CENTRE) / 8 - (5, 2) + 0.5) / 2
    rows[PLACE, :4] = *of_centre, *np.sqrt(np.array(SIDES) / (width, height)) / 2
    others = np.full_like(rows, 0.01)
    found = [np.concatenate(three) for three in zip(as_maps(others), as_maps(rows), as_maps(others), strict=True)]
    if not with_logits:
        return found
    return [np.log(each.clip(1e-9) / (1 - each)).astype(np.float32) for each in found]


def yolov5() -> list[Floats]:
    return beside_anchors(16, 30)


def yolov5_as_logits() -> list[Floats]:
    return beside_anchors(16, 30, with_logits=True)[::-1]


def yolov5_by_anchor() -> list[Floats]:
    """[3, rows, columns, numbers] for each stride."""
    return [
        np.ascontiguousarray(each.reshape(3, -1, *each.shape[1:]).transpose(0, 2, 3, 1))
        for each in yolov5_as_logits()
    ]


def yolov7() -> list[Floats]:
    return beside_anchors(19, 36)


def yolo_with_objectness() -> list[Floats]:
    rows = np.ones((3 * ANCHORS, 5 + CLASSES), np.float32)
    rows[:, 5:] = scores(3 * ANCHORS) / 0.9
    rows[:, 4] = 0.9
    rows[PLACE, :4] = (*CENTRE, *SIDES)
    return [rows]


def yolo_without_objectness() -> list[Floats]:
    rows = np.ones((ANCHORS, 4 + CLASSES), np.float32)
    rows[:, 4:] = scores(ANCHORS)
    rows[PLACE, :4] = (*CENTRE, *SIDES)
    return [np.ascontiguousarray(rows.T)]


def corners(of: Floats) -> Floats:
    boxes = np.zeros((ANCHORS, 4), np.float32)
    boxes[PLACE] = np.array(BOX) / of
    return boxes


def ssd() -> list[Floats]:
    return [scores(ANCHORS, CLASSES + 1, first=1), corners(np.array([96, 64, 96, 64], np.float32))]


def boxes_in_pixels() -> list[Floats]:
    return [corners(np.ones(4, np.float32)), scores(ANCHORS)]


def boxes_as_shares() -> list[Floats]:
    return [scores(ANCHORS), corners(np.array([96, 64, 96, 64], np.float32))]


def detr() -> list[Floats]:
    rows = scores(ANCHORS, CLASSES + 1)
    rows[:, CLASSES] = 1 - rows[:, :CLASSES].sum(axis=1)  # that nothing is there
    return [np.log(rows) + 3, rtdetr()[0]]  # a softmax sees no difference


def rtdetr() -> list[Floats]:
    rows = scores(ANCHORS)
    boxes = np.zeros((ANCHORS, 4), np.float32)
    boxes[PLACE] = np.array([*CENTRE, *SIDES]) / (96, 64, 96, 64)
    return [boxes, np.log(rows / (1 - rows))]


def centres() -> list[Floats]:
    return [scores(ANCHORS), rtdetr()[0]]


def centres_in_a_table() -> list[Floats]:
    return [np.concatenate(centres()[::-1], axis=1)]


def fastestdet() -> list[Floats]:
    rows, columns = SIZE[0] // 16, SIZE[1] // 16
    maps = np.full((5 + CLASSES, rows, columns), 0.01, np.float32)
    maps[0, 1, 2] = maps[5 + CLASS, 1, 2] = SCORE  # the cell of the centre in steps of 16
    of_centre = np.arctanh([CENTRE[0] / 16 - 2, CENTRE[1] / 16 - 1])
    shares = np.array([SIDES[0] / 96, SIDES[1] / 64])
    maps[1:5, 1, 2] = *of_centre, *np.log(shares / (1 - shares))
    return [maps]


def distances(point: tuple[float, float]) -> Floats:
    """Almost all of each side's share at two bins, in equal parts: the mean distance lies between them."""
    sides = np.zeros((4, 8), np.float32)
    for side, distance in enumerate((point[0] - BOX[0], point[1] - BOX[1], BOX[2] - point[0], BOX[3] - point[1])):
        low = int(distance / 8)
        part = distance / 8 - low
        sides[side] = -60
        sides[side, low] = np.log(max(1 - part, 1e-9))
        sides[side, low + 1] = np.log(max(part, 1e-9))
    return sides.reshape(-1)


def nanodet() -> list[Floats]:
    anchors = ANCHORS + 1 * 2
    rows = np.zeros((anchors, CLASSES + 32), np.float32)
    rows[:, :CLASSES] = scores(anchors)
    rows[PLACE, CLASSES:] = distances((40.0, 16.0))
    return [rows]


def picodet() -> list[Floats]:
    counts = (96, 24, 6, 2)
    found = [scores(96), *(np.zeros((count, CLASSES), np.float32) for count in counts[1:])]
    sides = [np.zeros((count, 32), np.float32) for count in counts]
    sides[0][PLACE] = distances((44.0, 20.0))
    return [*found[::-1], *sides]


def distances_by_stride() -> list[Floats]:
    """Distances, scores and their sums, stride by stride."""
    sides = np.zeros((ANCHORS, 32), np.float32)
    sides[PLACE] = distances((44.0, 20.0))
    of_classes = as_maps(scores(ANCHORS))
    sums = [each.sum(axis=0, keepdims=True) for each in of_classes]
    return [each for three in zip(as_maps(sides), of_classes, sums, strict=True) for each in three]


def distances_without_bins() -> list[Floats]:
    """A distance for each side, and logits, of the last stride first."""
    sides = np.zeros((ANCHORS, 4), np.float32)
    sides[PLACE] = np.array([44.0 - BOX[0], 20.0 - BOX[1], BOX[2] - 44.0, BOX[3] - 20.0]) / 8
    shares = scores(ANCHORS)
    maps = zip(as_maps(sides), as_maps(np.log(shares / (1 - shares))), strict=True)
    return [each for pair in reversed(list(maps)) for each in pair]


LAYOUTS: dict[str, tuple[Decode, Callable[[], list[Floats]]]] = {
    "yolox": ("yolox", yolox),
    "yolox by stride": ("yolox", yolox_by_stride),
    "yolov5": ("yolov5", yolov5),
    "yolov5 as logits": ("yolov5", yolov5_as_logits),
    "yolov5 by anchor": ("yolov5", yolov5_by_anchor),
    "yolov7": ("yolov7", yolov7),
    "distances": ("distances", distances_by_stride),
    "distances without bins": ("distances", distances_without_bins),
    "yolo 5": ("yolo", yolo_with_objectness),
    "yolo 8": ("yolo", yolo_without_objectness),
    "ssd": ("ssd", ssd),
    "nanodet": ("nanodet", nanodet),
    "picodet": ("picodet", picodet),
    "fastestdet": ("fastestdet", fastestdet),
    "detr": ("detr", detr),
    "rtdetr": ("rtdetr", rtdetr),
    "centres": ("centres", centres),
    "centres in a table": ("centres", centres_in_a_table),
    "boxes in pixels": ("boxes", boxes_in_pixels),
    "boxes as shares": ("boxes", boxes_as_shares),
}


def found_in(name: str, least: float = 0.5) -> Candidates:
    decode, outputs = LAYOUTS[name]
    return DECODERS[decode].decode(outputs(), SIZE, least)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_box_that_is_written_into_the_outputs_is_found(name: str) -> None:
    found = found_in(name)

    assert found.classes.tolist() == [CLASS]
    assert found.scores == pytest.approx([SCORE], rel=1e-5)
    assert found.boxes == pytest.approx(np.array([BOX]), abs=1e-3)


@pytest.mark.parametrize("name", LAYOUTS)
def test_nothing_is_found_above_a_higher_threshold(name: str) -> None:
    found = found_in(name, least=0.8)

    assert (len(found), found.boxes.shape) == (0, (0, 4))


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_number_of_classes_follows_from_the_shapes(name: str) -> None:
    decode, outputs = LAYOUTS[name]

    assert DECODERS[decode].classes([output.shape for output in outputs()]) == CLASSES


def test_ultraface_decodes_beside_its_anchors() -> None:
    anchors = face_anchors((240, 320))
    confident = np.tile(np.array([0.99, 0.01], np.float32), (len(anchors), 1))
    confident[4000] = 0.1, 0.9
    encoded = np.zeros((len(anchors), 4), np.float32)
    encoded[4000] = 1.0, -2.0, np.log(1.5) / 0.2, 0.0

    found = DECODERS["ultraface"].decode([confident, encoded], (240, 320), 0.5)

    x, y, width, height = anchors[4000] * (320, 240, 320, 240)
    centre, sides = (x + 0.1 * width, y - 0.2 * height), (1.5 * width, height)
    expected = (
        centre[0] - sides[0] / 2,
        centre[1] - sides[1] / 2,
        centre[0] + sides[0] / 2,
        centre[1] + sides[1] / 2,
    )
    assert len(anchors) == 4420
    assert found.boxes == pytest.approx(np.array([expected]), abs=1e-3)
    assert found.classes.tolist() == [0]


def test_a_size_beyond_all_numbers_stays_finite() -> None:
    (rows,) = yolox()
    rows[PLACE, 2:4] = 1000.0

    found = DECODERS["yolox"].decode([rows], SIZE, 0.5)

    assert np.isfinite(found.boxes).all()
