"""Decode boxes whose sides are at distances from cells, often as shares of several ones.

Source: Li et al., "Generalized Focal Loss", 2020.
"""

from dataclasses import replace

import numpy as np

from edged.detection.candidates import Best, Candidates, Floats, best_of, grid
from edged.detection.outputs import (
    BOX,
    STRIDES,
    STRIDES_OF_4,
    Outputs,
    Shapes,
    Size,
    are_logits,
    logit,
    maps_by_stride,
    of_all_cells,
    sigmoid,
)

BINS = 8  # of a side's distance, of NanoDet-Plus and PicoDet


def nanodet(outputs: Outputs, size: Size, least: float) -> Candidates:
    """[anchors, classes + 4 · 8]: scores, and the shares of 8 distances for each side (NanoDet-Plus, 2021)."""
    (rows,) = outputs
    sides = BOX * BINS
    return by_distances(rows[:, :-sides], rows[:, -sides:], grid(*size, STRIDES_OF_4), least)


def picodet(outputs: Outputs, size: Size, least: float) -> Candidates:
    """For each stride scores [anchors, classes] and distances [anchors, 4 · 8], in any order (Yu et al., 2021)."""
    sides = [each for each in outputs if each.shape[1] == BOX * BINS]
    scores = [each for each in outputs if each.shape[1] != BOX * BINS]
    points = grid(*size, STRIDES_OF_4, offset=0.5)
    return by_distances(_by_stride(scores), _by_stride(sides), points, least)


def distances(outputs: Outputs, size: Size, least: float) -> Candidates:
    """For each stride sides [4 · bins, rows, columns], scores [classes, rows, columns], and perhaps their sum.

    The sides are shares of the bins' distances; of one bin they are the distances themselves. The scores are
    shares, or their logits. So Rockchip's tools export YOLOv6 to YOLO11 and PP-YOLOE.
    """
    groups = maps_by_stride([output.shape for output in outputs], size)
    sides, scores = (of_all_cells([outputs[group[number]] for group in groups]) for number in (0, 1))
    best = _best(scores, least, axis=0)
    return _around(best, sides[:, best.anchors].T, grid(*size, STRIDES, offset=0.5))


def classes_by_stride(shapes: Shapes) -> int:
    """Return the channels of the second output, the scores of a stride."""
    largest = max(rows * columns for _, rows, columns in shapes)
    _, scores, *_ = (channels for channels, rows, columns in shapes if rows * columns == largest)
    return scores


def _by_stride(outputs: Outputs) -> Floats:
    """Join outputs of several strides: the finest grid, which has the most cells, first."""
    return np.concatenate(sorted(outputs, key=len, reverse=True))


def by_distances(scores: Floats, sides: Floats, points: tuple[Floats, Floats], least: float) -> Candidates:
    """Return boxes around points. scores: [anchors, classes], or logits; sides: [anchors, 4 · bins]."""
    best = _best(scores, least)
    return _around(best, sides[best.anchors], points)


def _best(scores: Floats, least: float, axis: int = 1) -> Best:
    """Return the best class of each anchor, as `best_of`, of scores or of their logits."""
    if not are_logits(scores):
        return best_of(scores, least, axis)
    best = best_of(scores, logit(least), axis)
    return replace(best, scores=sigmoid(best.scores))


def _around(best: Best, sides: Floats, points: tuple[Floats, Floats]) -> Candidates:
    """Return the boxes of these anchors. `sides`: of them alone; points, with their strides: of all."""
    centres, steps = (each[best.anchors] for each in points)
    means = _means(sides.reshape(-1, BOX, sides.shape[1] // BOX))
    left_top, right_bottom = means[:, :2] * steps, means[:, 2:] * steps
    return best.with_boxes(np.concatenate([centres - left_top, centres + right_bottom], axis=1))


def _means(logits: Floats) -> Floats:
    """Return the mean distance of each side, [n, 4], from the logits of its bins, [n, 4, bins]."""
    bins = logits.shape[2]
    if bins == 1:
        return logits[:, :, 0]
    shares = np.exp(logits - logits.max(axis=2, keepdims=True))
    return np.asarray(shares @ np.arange(bins, dtype=np.float32) / shares.sum(axis=2), np.float32)
