"""Faces in the tables of each stride: what is decoded of a face that is written into them."""

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.detection.decoders import DECODERS

Floats = NDArray[np.float32]
SIZE = (64, 96)  # height, width
CELLS = (8 * 12, 4 * 6, 2 * 3)
ROW, COLUMN = 1, 4  # of a cell with stride 16
CELL = ROW * 6 + COLUMN
BOX = (56.0, 10.0, 80.0, 26.0)


def tables(columns: int, anchors: int = 1) -> list[Floats]:
    return [np.full((anchors * cells, columns), 0.01, np.float32) for cells in CELLS]


def test_yunet_has_centres_and_sizes_in_strides_and_two_scores() -> None:
    faces, objects, boxes, landmarks = tables(1), tables(1), tables(4), tables(10)
    faces[1][CELL], objects[1][CELL] = 0.9, 0.4
    boxes[1][CELL] = 68 / 16 - COLUMN, 18 / 16 - ROW, np.log(24 / 16), np.log(16 / 16)

    found = DECODERS["yunet"].decode([*faces, *objects, *boxes, *landmarks], SIZE, 0.5)

    assert found.boxes == pytest.approx(np.array([BOX]), abs=1e-4)
    assert found.scores == pytest.approx([0.6])  # the geometric mean
    assert found.classes.tolist() == [0]


@pytest.mark.parametrize("with_landmarks", [False, True])
def test_scrfd_has_distances_from_two_anchors_in_a_cell(with_landmarks: bool) -> None:
    scores, sides = tables(1, anchors=2), tables(4, anchors=2)
    scores[1][2 * CELL + 1] = 0.8
    x, y = 16 * COLUMN, 16 * ROW
    sides[1][2 * CELL + 1] = np.array([x - BOX[0], y - BOX[1], BOX[2] - x, BOX[3] - y]) / 16

    outputs = [*scores, *sides, *(tables(10, anchors=2) if with_landmarks else [])]
    found = DECODERS["scrfd"].decode(outputs, SIZE, 0.5)

    assert found.boxes == pytest.approx(np.array([BOX]), abs=1e-4)
    assert found.scores == pytest.approx([0.8])
