"""Candidates for boxes: a rectangle, a class and a score each, before those that overlap are suppressed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Candidates:
    """boxes: float32 [n, 4], left, top, right, bottom in pixels of the input; scores: [n]; classes: [n]."""

    boxes: Floats
    scores: Floats
    classes: Indices

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.scores)

    def chosen(self, places: Indices) -> "Candidates":
        """Return the candidates at these places, in this order."""
        return Candidates(self.boxes[places], self.scores[places], self.classes[places])


@dataclass(frozen=True, eq=False)
class Best:
    """The best class of each anchor whose box has a score that is high enough. Each [n], in the anchors' order."""

    anchors: Indices
    classes: Indices
    scores: Floats

    def with_boxes(self, boxes: Floats) -> Candidates:
        """Return the candidates; `boxes`: of these anchors, [n, 4]."""
        return Candidates(np.asarray(boxes, np.float32), self.scores, self.classes)


def best_of(scores: Floats, least: float, axis: int = 1) -> Best:
    """Return the best class of each anchor whose box has a score of at least `least`; of equal ones the first.

    scores: [anchors, classes], or the reverse; `axis`: of the classes.
    """
    highest = scores.max(axis=axis)
    anchors = np.flatnonzero(highest >= least)
    return Best(anchors, scores.take(anchors, axis=1 - axis).argmax(axis=axis), highest[anchors])


def best_of_objects(
    objects: Floats, classes: Floats, least: float, score: Callable[[Floats, Floats], Floats] = np.multiply
) -> Best:
    """Return the same where each anchor also has a probability that it is an object.

    objects: [anchors]; classes: [anchors, classes], at most 1, so that those of few anchors are read. score: of
    boxes, by their objects and best classes; it must not decrease.
    """
    likely = np.flatnonzero(score(objects, np.ones_like(objects)) >= least)
    of_likely = classes[likely]
    highest = score(objects[likely], of_likely.max(axis=1))
    reach = np.flatnonzero(highest >= least)
    return Best(likely[reach], of_likely[reach].argmax(axis=1), highest[reach])


def beside(candidates: Candidates, others: Candidates, overlap: float) -> Candidates:
    """Return the candidates whose intersection over union with each of the others is at most `overlap`."""
    one, other = candidates.boxes[:, None], others.boxes[None]
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    shared = sides.clip(0).prod(axis=2)
    areas = [(each[..., 2:] - each[..., :2]).prod(axis=2) for each in (one, other)]
    return candidates.chosen(np.flatnonzero((shared <= overlap * (sum(areas) - shared)).all(axis=1)))


def cells(height: int, width: int, strides: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the rows and columns of the grid of each stride, as convolutions round them."""
    return tuple((-(-height // stride), -(-width // stride)) for stride in strides)


def count_cells(height: int, width: int, strides: Sequence[int]) -> int:
    """Return the cells of the grids of all strides."""
    return sum(rows * columns for rows, columns in cells(height, width, strides))


@cache
def grid(height: int, width: int, strides: tuple[int, ...], offset: float = 0.0) -> tuple[Floats, Floats]:
    """Return the points [cells, 2] (x, y) of all grids in pixels, and the stride of each, [cells, 1].

    A point is (column + offset, row + offset) · stride; strides follow each other, rows in each.
    """
    points, steps = [], []
    for stride, (rows, columns) in zip(strides, cells(height, width, strides), strict=True):
        y, x = np.mgrid[:rows, :columns].astype(np.float32)
        points.append((np.stack([x, y], axis=-1).reshape(-1, 2) + np.float32(offset)) * np.float32(stride))
        steps.append(np.full((rows * columns, 1), stride, np.float32))
    return np.concatenate(points), np.concatenate(steps)


def around_centres(centres: Floats, sizes: Floats) -> Floats:
    """Return boxes [n, 4] of centres (x, y) and sizes (width, height), both [n, 2]."""
    half = sizes / 2
    return np.concatenate([centres - half, centres + half], axis=1)
