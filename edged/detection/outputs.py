"""Read the outputs of detectors: which are scores and which are boxes, maps of each stride, sigmoids."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edged.detection.candidates import Best, Candidates, Floats, around_centres, cells, grid

Outputs = Sequence[Floats]
Shapes = Sequence[tuple[int, ...]]
Size = tuple[int, int]
Groups = tuple[tuple[int, ...], ...]  # numbers of outputs, for each stride

BOX = 4  # numbers of a box
TABLE_AXES, MAP_AXES = 2, 3  # rows and columns; channels, rows and columns
STRIDES = (8, 16, 32)
STRIDES_OF_4 = (8, 16, 32, 64)
LARGEST_LOGARITHM = np.float32(10)  # of a box's size in strides: larger than every picture


@dataclass(frozen=True)
class Pair:
    """Which of two outputs are scores and boxes. is_turned: scores are [classes, anchors]."""

    scores: int
    boxes: int
    is_turned: bool = False

    def classes(self, shapes: Shapes) -> int:
        """Return the columns of the scores, which are the rows of turned ones."""
        return shapes[self.scores][0 if self.is_turned else 1]


def pair_of(shapes: Shapes) -> Pair | None:
    """Return how two outputs are boxes, which have four columns, and scores of the same anchors; else None.

    Of two that could be the boxes the second one is.
    """
    for scores, boxes in ((0, 1), (1, 0)):
        match shapes[scores], shapes[boxes]:
            case (rows, columns), (anchors, numbers) if (
                numbers == BOX and anchors > 1 and anchors in {rows, columns}
            ):
                return Pair(scores, boxes, rows != anchors)
    return None


def scores_and_boxes(outputs: Outputs) -> tuple[Floats, Floats]:
    """Return both outputs, whatever their order: scores [anchors, classes] and boxes [anchors, 4]."""
    pair = pair_of([output.shape for output in outputs])
    assert pair, "recognised"  # noqa: S101
    scores = outputs[pair.scores]
    return scores.T if pair.is_turned else scores, outputs[pair.boxes]


def maps_by_stride(shapes: Shapes, size: Size) -> Groups:
    """Return which outputs [channels, rows, columns] have the cells of each stride, 8 first.

    Nothing if one has those of none, or if another number of them has those of another stride.
    """
    return _grouped([shape[1:] if len(shape) == MAP_AXES else None for shape in shapes], cells(*size, STRIDES))


def tables_by_stride(shapes: Shapes, size: Size, anchors: int) -> Groups:
    """Return likewise which outputs [rows, columns] have so many rows for each cell of a stride."""
    counts = [anchors * rows * columns for rows, columns in cells(*size, STRIDES)]
    return _grouped([shape[0] if len(shape) == TABLE_AXES else None for shape in shapes], counts)


def _grouped(keys: Sequence[object], of_strides: Sequence[object]) -> Groups:
    groups = tuple(tuple(number for number, key in enumerate(keys) if key == each) for each in of_strides)
    is_whole = sum(map(len, groups)) == len(keys)
    return groups if is_whole and len({len(group) for group in groups}) == 1 else ()


def finest_first(maps: Outputs) -> Outputs:
    """Return maps [channels, rows, columns] of several strides, that with the most cells first."""
    return sorted(maps, key=lambda each: each.shape[1] * each.shape[2], reverse=True)


def of_all_cells(maps: Outputs) -> Floats:
    """Return maps [channels, rows, columns] of all strides as [channels, cells]."""
    return np.concatenate([each.reshape(len(each), -1) for each in finest_first(maps)], axis=1)


def are_logits(scores: Floats) -> bool:
    """Return whether these are no shares: of the logits of thousands of cells most are below 0."""
    return bool(scores.min(initial=0) < 0)


def around_cells(best: Best, numbers: Floats, size: Size) -> Candidates:
    """Return the boxes of the best cells: [cells, 4 …], centres and logarithms of sizes, in strides (Ge, 2021)."""
    points, steps = (each[best.anchors] for each in grid(*size, STRIDES))
    found = numbers[best.anchors]
    return best.with_boxes(around_centres(points + found[:, :2] * steps, exponential(found[:, 2:BOX]) * steps))


def exponential(logarithms: Floats) -> Floats:
    """Return e to the power of these, of which none becomes infinite."""
    return np.exp(np.minimum(logarithms, LARGEST_LOGARITHM))


def sigmoid(numbers: Floats) -> Floats:
    """Return shares, from 0 to 1."""
    return np.asarray((1 + np.tanh(numbers / 2)) / 2, np.float32)


def logit(share: float) -> float:
    """Return the number whose sigmoid this is: infinite for 0 and 1."""
    with np.errstate(divide="ignore"):
        return float(np.log(share) - np.log1p(-share))


def as_pixels(size: Size) -> Floats:
    """Return what makes pixels of a box [4] of shares: width, height, width, height."""
    height, width = size
    return np.array([width, height, width, height], np.float32)
