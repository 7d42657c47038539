"""Decode the tables of face detectors: scores, boxes, and landmarks, which are left out, for each stride."""

import numpy as np

from edged.detection.candidates import Candidates, Floats, best_of, grid
from edged.detection.distances import by_distances
from edged.detection.outputs import BOX, STRIDES, Outputs, Size, around_cells, tables_by_stride

LANDMARKS = 10  # numbers of a face's eyes, nose and corners of the mouth
COLUMNS_OF_YUNET = ((1, 1, BOX), (1, 1, BOX, LANDMARKS))  # of a stride's tables, in order
COLUMNS_OF_SCRFD = ((1, BOX), (1, BOX, LANDMARKS))
ANCHORS_OF_SCRFD = 2  # of a cell


def yunet(outputs: Outputs, size: Size, least: float) -> Candidates:
    """For each stride two scores [cells, 1], whose geometric mean counts, and boxes [cells, 4] (Wu et al., 2023).

    Boxes are centres and logarithms of sizes, in strides, as of `yolox`.
    """
    face, object_, boxes, *_ = _tables(outputs, size, 1)
    best = best_of(np.sqrt(face.clip(0, 1) * object_.clip(0, 1)), least)
    return around_cells(best, boxes, size)


def scrfd(outputs: Outputs, size: Size, least: float) -> Candidates:
    """For each stride scores [2 · cells, 1] and distances [2 · cells, 4] of two anchors (Guo et al., 2021)."""
    scores, sides, *_ = _tables(outputs, size, ANCHORS_OF_SCRFD)
    points, steps = (np.repeat(each, ANCHORS_OF_SCRFD, axis=0) for each in grid(*size, STRIDES))
    return by_distances(scores, sides, (points, steps), least)


def _tables(outputs: Outputs, size: Size, anchors: int) -> list[Floats]:
    """Return the tables of all strides, those with the fewest columns first: [cells · anchors, columns] each."""
    groups = [
        sorted(group, key=lambda number: outputs[number].shape[1])
        for group in tables_by_stride([output.shape for output in outputs], size, anchors)
    ]
    return [np.concatenate([outputs[number] for number in numbers]) for numbers in zip(*groups, strict=True)]
