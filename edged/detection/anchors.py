"""Decode boxes that are given beside anchors: boxes of sizes that are frequent where a network was trained."""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from edged.detection.candidates import Candidates, Floats, around_centres, best_of, best_of_objects, cells, grid
from edged.detection.outputs import (
    BOX,
    STRIDES,
    STRIDES_OF_4,
    Outputs,
    Shapes,
    Size,
    are_logits,
    as_pixels,
    exponential,
    finest_first,
    logit,
    scores_and_boxes,
    sigmoid,
)

FACE_SIDES = ((10, 16, 24), (32, 48), (64, 96), (128, 192, 256))  # of UltraFace's anchors, by stride
FACE_VARIANCES = 0.1, 0.2  # of centres and of sizes (Liu et al., SSD, 2016)

ANCHORS = 3  # of a cell of YOLOv5 and YOLOv7
AXES_BY_ANCHOR = 4  # anchors of a cell, rows, columns, numbers
OBJECT = BOX  # the number of an anchor that says whether it is an object

# width and height in pixels, for each stride (Jocher, YOLOv5, 2020; Wang et al., YOLOv7, 2022)
SIZES_OF_YOLOV5 = (
    ((10, 13), (16, 30), (33, 23)),
    ((30, 61), (62, 45), (59, 119)),
    ((116, 90), (156, 198), (373, 326)),
)
SIZES_OF_YOLOV7 = (
    ((12, 16), (19, 36), (40, 28)),
    ((36, 75), (76, 55), (72, 146)),
    ((142, 110), (192, 243), (459, 401)),
)

AnchorSizes = Sequence[Sequence[tuple[int, int]]]
Places = tuple[NDArray[np.intp], ...]  # which anchor of its cell, and which cell, of each that is found


def ultraface(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Scores [anchors, 2] of background and face, and boxes [anchors, 4] beside UltraFace's own anchors."""
    scores, encoded = scores_and_boxes(outputs)
    best = best_of(scores[:, 1:], least)
    anchors, found = face_anchors(size)[best.anchors], encoded[best.anchors]
    of_centres, of_sizes = FACE_VARIANCES
    centres = anchors[:, :2] + found[:, :2] * of_centres * anchors[:, 2:]
    sizes = anchors[:, 2:] * exponential(found[:, 2:] * of_sizes)
    return best.with_boxes(around_centres(centres, sizes) * as_pixels(size))


@cache
def face_anchors(size: Size) -> Floats:
    """Return UltraFace's anchors [n, 4] as shares of the input: centre (x, y), width, height; each at most 1."""
    height, width = size
    anchors = []
    for stride, sides, (rows, columns) in zip(
        STRIDES_OF_4, FACE_SIDES, cells(height, width, STRIDES_OF_4), strict=True
    ):
        y, x = np.mgrid[:rows, :columns].astype(np.float32) + np.float32(0.5)
        across, down = x * stride / width, y * stride / height
        each = [np.stack([across, down, np.full_like(x, side / width), np.full_like(x, side / height)], -1)
                for side in sides]  # fmt: skip
        anchors.append(np.stack(each, axis=2).reshape(-1, BOX))
    return np.concatenate(anchors).clip(0, 1)


def yolov5(outputs: Outputs, size: Size, least: float) -> Candidates:
    """For each stride [3 · (5 + classes), rows, columns]: boxes beside YOLOv5's anchors, and YOLOv7-tiny's.

    Or [3, rows, columns, 5 + classes].
    """
    return _beside(SIZES_OF_YOLOV5, outputs, size, least)


def yolov7(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Outputs as those of `yolov5`, beside YOLOv7's anchors."""
    return _beside(SIZES_OF_YOLOV7, outputs, size, least)


def classes_beside_anchors(shapes: Shapes) -> int:
    """Return the classes of outputs as those of `yolov5`."""
    channels, *_ = as_maps(shapes)[0]
    return channels // ANCHORS - BOX - 1


def as_maps(shapes: Shapes) -> Shapes:
    """Return the shapes [3, rows, columns, numbers] as [3 · numbers, rows, columns], and others as they are."""
    return [
        (ANCHORS * shape[3], *shape[1:3]) if len(shape) == AXES_BY_ANCHOR and shape[0] == ANCHORS else shape
        for shape in shapes
    ]


def _beside(anchors: AnchorSizes, outputs: Outputs, size: Size, least: float) -> Candidates:
    """Return the boxes of outputs whose numbers are sigmoids, or the logits of these."""
    maps = [_of_anchors(each) for each in finest_first(outputs)]
    with_logits = any(are_logits(each[:, :, OBJECT]) for each in maps)
    reached = logit(least) if with_logits else least
    places: list[Places] = [np.nonzero(each[:, :, OBJECT] >= reached) for each in maps]
    rows = np.concatenate([each[place] for each, place in zip(maps, places, strict=True)])
    rows = sigmoid(rows) if with_logits else rows
    best = best_of_objects(rows[:, OBJECT], rows[:, OBJECT + 1 :], least)
    points, steps, sizes = (each[best.anchors] for each in _anchors_at(places, anchors, size))
    found = rows[best.anchors, :BOX] * 2
    centres = points + (found[:, :2] - np.float32(0.5)) * steps
    return best.with_boxes(around_centres(centres, np.square(found[:, 2:]) * sizes))


def _of_anchors(output: Floats) -> Floats:
    """Return the output of a stride as [3, cells, 5 + classes], without a copy."""
    if output.ndim == AXES_BY_ANCHOR:
        return output.reshape(ANCHORS, -1, output.shape[-1])
    return output.reshape(ANCHORS, len(output) // ANCHORS, -1).transpose(0, 2, 1)


def _anchors_at(places: Sequence[Places], anchors: AnchorSizes, size: Size) -> tuple[Floats, Floats, Floats]:
    """Return the point of each anchor's cell, [n, 2], its stride, [n, 1], and the size of the anchor, [n, 2]."""
    firsts = (0, *accumulate(rows * columns for rows, columns in cells(*size, STRIDES)))
    cell = np.concatenate([first + where for first, (_, where) in zip(firsts, places, strict=False)])
    sizes = [np.array(each, np.float32)[which] for each, (which, _) in zip(anchors, places, strict=True)]
    points, steps = grid(*size, STRIDES)
    return points[cell], steps[cell], np.concatenate(sizes)
