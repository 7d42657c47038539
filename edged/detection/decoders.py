"""Decode the outputs of detectors, a function for each layout: here, in `anchors`, `distances` and `faces`.

Each takes the outputs of one frame in the file's order and shapes, the input's size (height, width), and the least
score: anchors whose best class stays below it are left out before anything else is computed for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from edged.detection.anchors import classes_beside_anchors, ultraface, yolov5, yolov7
from edged.detection.candidates import Best, Candidates, Floats, around_centres, best_of, best_of_objects
from edged.detection.distances import BINS, classes_by_stride, distances, nanodet, picodet
from edged.detection.faces import scrfd, yunet
from edged.detection.outputs import (
    BOX,
    Outputs,
    Shapes,
    Size,
    around_cells,
    as_pixels,
    logit,
    of_all_cells,
    pair_of,
    scores_and_boxes,
    sigmoid,
)
from edged.messages.detection import Decode
from edged.messages.preparation import RECIPES, Recipe

OVERLAP = 0.45  # intersection over union from which a box is suppressed
OBJECT_POWER, CLASS_POWER = 0.6, 0.4  # of FastestDet's scores


def yolox(outputs: Outputs, size: Size, least: float) -> Candidates:
    """[anchors, 5 + classes]: centre and logarithm of the size, in strides, objectness, classes (Ge, 2021).

    Or [5 + classes, rows, columns] for each stride.
    """
    rows = outputs[0] if len(outputs) == 1 else of_all_cells(outputs).T
    best = best_of_objects(rows[:, 4], rows[:, 5:], least)
    return around_cells(best, rows, size)


def yolo(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Boxes in pixels: [anchors, 5 + classes] with objectness, or [4 + classes, anchors]."""
    (rows,) = outputs
    if rows.shape[0] < rows.shape[1]:
        best = best_of(rows[BOX:], least, axis=0)
        found = rows[:BOX, best.anchors].T
    else:
        best = best_of_objects(rows[:, 4], rows[:, 5:], least)
        found = rows[best.anchors, :BOX]
    return best.with_boxes(around_centres(found[:, :2], found[:, 2:]))


def ssd(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Scores [anchors, 1 + classes], the first the background's, and boxes as `boxes`."""
    scores, corners = scores_and_boxes(outputs)
    return _at_corners(best_of(scores[:, 1:], least), corners, size)


def fastestdet(outputs: Outputs, size: Size, least: float) -> Candidates:
    """[1 + 4 + classes, rows, columns]: objectness, box and classes of each cell (FastestDet, 2022)."""
    (maps,) = outputs
    _, rows, columns = maps.shape
    flat = maps.reshape(len(maps), -1)
    best = best_of_objects(flat[0], flat[5:].T, least, _fastestdet_score)
    found = flat[1:5, best.anchors].T
    cell = np.stack([best.anchors % columns, best.anchors // columns], axis=1).astype(np.float32)
    centres = np.asarray((cell + np.tanh(found[:, :2])) / (columns, rows), np.float32)
    sizes = sigmoid(found[:, 2:])
    return best.with_boxes(around_centres(centres, sizes) * as_pixels(size))


def _fastestdet_score(objects: Floats, classes: Floats) -> Floats:
    return np.asarray(classes**CLASS_POWER * objects**OBJECT_POWER, np.float32)


def detr(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Logits [queries, classes + 1], the last that nothing is there, and boxes as `rtdetr` (Carion, 2020)."""
    logits, boxes = scores_and_boxes(outputs)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return _at_centres(best_of(shares[:, :-1], least), boxes, size)


def rtdetr(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Logits [queries, classes], and boxes [queries, 4]: centres and sizes as shares (Zhao et al., 2023)."""
    logits, boxes = scores_and_boxes(outputs)
    best = best_of(logits, logit(least))
    return _at_centres(replace(best, scores=sigmoid(best.scores)), boxes, size)


def centres(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Scores and boxes as `rtdetr`, but after a sigmoid; or both in one table [queries, 4 + classes]."""
    scores, boxes = scores_and_boxes(outputs) if len(outputs) == 2 else (outputs[0][:, BOX:], outputs[0][:, :BOX])
    return _at_centres(best_of(scores, least), boxes, size)


def _at_centres(best: Best, boxes: Floats, size: Size) -> Candidates:
    """Return candidates whose boxes are centres and sizes as shares of the input."""
    found = boxes[best.anchors]
    return best.with_boxes(around_centres(found[:, :2], found[:, 2:]) * as_pixels(size))


def boxes(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Scores [anchors, classes] and boxes [anchors, 4]: left, top, right, bottom, in pixels or as shares.

    They are shares if none reaches 2: a box of a picture in pixels does.
    """
    scores, corners = scores_and_boxes(outputs)
    return _at_corners(best_of(scores, least), corners, size)


def _at_corners(best: Best, corners: Floats, size: Size) -> Candidates:
    are_shares = np.abs(corners).max(initial=0) < 2
    return best.with_boxes(corners[best.anchors] * (as_pixels(size) if are_shares else np.float32(1)))


@dataclass(frozen=True)
class Decoder:
    """`decode`: see this module. `classes`: how many a network with outputs of these shapes has.

    recipe, labels: how pictures are prepared for networks of this kind, and their labels, where nothing else
    says it. overlap: of two boxes of a label; 1 for networks whose boxes do not repeat.
    """

    decode: Callable[[Outputs, Size, float], Candidates]
    classes: Callable[[Shapes], int]
    recipe: Recipe
    labels: tuple[str, ...] = ()
    overlap: float = OVERLAP


def _classes_of_yolox(shapes: Shapes) -> int:
    return shapes[0][1 if len(shapes) == 1 else 0] - 5


def _classes_of_yolo(shapes: Shapes) -> int:
    (shape,) = shapes
    return min(shape) - BOX if shape[0] < shape[1] else shape[1] - 5


def _scores_of_pair(shapes: Shapes) -> int:
    pair = pair_of(shapes)
    assert pair, "recognised"  # noqa: S101
    return pair.classes(shapes)


DECODERS: Mapping[Decode, Decoder] = {
    "yolox": Decoder(yolox, _classes_of_yolox, RECIPES["yolox"]),
    "yolo": Decoder(yolo, _classes_of_yolo, RECIPES["yolo"]),
    "ssd": Decoder(ssd, lambda shapes: _scores_of_pair(shapes) - 1, RECIPES["ssd"]),
    "nanodet": Decoder(
        nanodet,
        lambda shapes: shapes[0][1] - BOX * BINS,
        Recipe("stretch", "bgr", 1.0, (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)),
    ),
    "picodet": Decoder(
        picodet,
        lambda shapes: next(width for _, width in shapes if width != BOX * BINS),
        Recipe("stretch", "rgb", 1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ),
    "ultraface": Decoder(
        ultraface, lambda shapes: 1, Recipe("stretch", "rgb", 1.0, (127.0,), (128.0,)), ("face",)
    ),
    "yunet": Decoder(yunet, lambda shapes: 1, RECIPES["yolox"], ("face",)),
    "scrfd": Decoder(scrfd, lambda shapes: 1, Recipe("corner", "rgb", 1.0, (127.5,), (128.0,)), ("face",)),
    "fastestdet": Decoder(
        fastestdet, lambda shapes: shapes[0][0] - 5, Recipe("stretch", "bgr", 1 / 255, (0.0,), (1.0,))
    ),
    "distances": Decoder(distances, classes_by_stride, RECIPES["yolo"]),
    "yolov5": Decoder(yolov5, classes_beside_anchors, RECIPES["yolo"]),
    "yolov7": Decoder(yolov7, classes_beside_anchors, RECIPES["yolo"]),
    "detr": Decoder(
        detr,
        lambda shapes: _scores_of_pair(shapes) - 1,
        replace(RECIPES["imagenet"], resize="stretch"),
        overlap=1.0,
    ),
    "rtdetr": Decoder(rtdetr, _scores_of_pair, RECIPES["unit"], overlap=1.0),
    "centres": Decoder(
        centres,
        lambda shapes: shapes[0][1] - BOX if len(shapes) == 1 else _scores_of_pair(shapes),
        RECIPES["unit"],
        overlap=1.0,
    ),
    "boxes": Decoder(boxes, _scores_of_pair, RECIPES["unit"]),
}
