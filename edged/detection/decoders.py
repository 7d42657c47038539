"""Decode the outputs of detectors, a function for each layout.

Each takes the outputs of one frame in the file's order and shapes, the input's size (height, width), and the least
score: anchors whose best class stays below it are left out before anything else is computed for them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from edged.detection.candidates import (
    Best,
    Candidates,
    Floats,
    around_centres,
    best_of,
    best_of_objects,
    cells,
    grid,
)
from edged.messages.detection import Decode
from edged.messages.preparation import RECIPES, Recipe

Outputs = Sequence[Floats]
Shapes = Sequence[tuple[int, ...]]
Size = tuple[int, int]

BOX = 4  # numbers of a box
STRIDES = (8, 16, 32)
STRIDES_OF_4 = (8, 16, 32, 64)
LARGEST_LOGARITHM = np.float32(10)  # of a box's size in strides: larger than every picture
OVERLAP = 0.45  # intersection over union from which a box is suppressed
BINS = 8  # of a side's distance, of NanoDet-Plus and PicoDet
OBJECT_POWER, CLASS_POWER = 0.6, 0.4  # of FastestDet's scores
FACE_SIDES = ((10, 16, 24), (32, 48), (64, 96), (128, 192, 256))  # of UltraFace's anchors, by stride
FACE_VARIANCES = 0.1, 0.2  # of centres and of sizes (Liu et al., SSD, 2016)


def yolox(outputs: Outputs, size: Size, least: float) -> Candidates:
    """[anchors, 5 + classes]: centre and logarithm of the size, in strides, objectness, classes (Ge, 2021)."""
    (rows,) = outputs
    best = best_of_objects(rows[:, 4], rows[:, 5:], least)
    points, steps = grid(*size, STRIDES)
    found, step = rows[best.anchors], steps[best.anchors]
    return best.with_boxes(around_centres(points[best.anchors] + found[:, :2] * step, _exp(found[:, 2:4]) * step))


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


def ultraface(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Scores [anchors, 2] of background and face, and boxes [anchors, 4] beside UltraFace's own anchors."""
    scores, encoded = scores_and_boxes(outputs)
    best = best_of(scores[:, 1:], least)
    anchors, found = face_anchors(size)[best.anchors], encoded[best.anchors]
    of_centres, of_sizes = FACE_VARIANCES
    centres = anchors[:, :2] + found[:, :2] * of_centres * anchors[:, 2:]
    sizes = anchors[:, 2:] * _exp(found[:, 2:] * of_sizes)
    return best.with_boxes(around_centres(centres, sizes) * _sides(size))


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


def fastestdet(outputs: Outputs, size: Size, least: float) -> Candidates:
    """[1 + 4 + classes, rows, columns]: objectness, box and classes of each cell (FastestDet, 2022)."""
    (maps,) = outputs
    _, rows, columns = maps.shape
    flat = maps.reshape(len(maps), -1)
    best = best_of_objects(flat[0], flat[5:].T, least, _fastestdet_score)
    found = flat[1:5, best.anchors].T
    cell = np.stack([best.anchors % columns, best.anchors // columns], axis=1).astype(np.float32)
    centres = np.asarray((cell + np.tanh(found[:, :2])) / (columns, rows), np.float32)
    sizes = _sigmoid(found[:, 2:])
    return best.with_boxes(around_centres(centres, sizes) * _sides(size))


def _fastestdet_score(objects: Floats, classes: Floats) -> Floats:
    return np.asarray(classes**CLASS_POWER * objects**OBJECT_POWER, np.float32)


def nanodet(outputs: Outputs, size: Size, least: float) -> Candidates:
    """[anchors, classes + 4 · 8]: scores, and the shares of 8 distances for each side (Li et al., 2020)."""
    (rows,) = outputs
    sides = BOX * BINS
    return _by_distances(rows[:, :-sides], rows[:, -sides:], grid(*size, STRIDES_OF_4), least)


def picodet(outputs: Outputs, size: Size, least: float) -> Candidates:
    """For each stride scores [anchors, classes] and distances [anchors, 4 · 8], in any order (Yu et al., 2021)."""
    sides = [each for each in outputs if each.shape[1] == BOX * BINS]
    scores = [each for each in outputs if each.shape[1] != BOX * BINS]
    points = grid(*size, STRIDES_OF_4, offset=0.5)
    return _by_distances(_by_stride(scores), _by_stride(sides), points, least)


def detr(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Logits [queries, classes + 1], the last that nothing is there, and boxes as `rtdetr` (Carion, 2020)."""
    logits, boxes = scores_and_boxes(outputs)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return _at_centres(best_of(shares[:, :-1], least), boxes, size)


def rtdetr(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Logits [queries, classes], and boxes [queries, 4]: centres and sizes as shares (Zhao et al., 2023)."""
    logits, boxes = scores_and_boxes(outputs)
    best = best_of(logits, _logit(least))
    return _at_centres(replace(best, scores=_sigmoid(best.scores)), boxes, size)


def centres(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Scores and boxes as `rtdetr`, but after a sigmoid; or both in one table [queries, 4 + classes]."""
    scores, boxes = scores_and_boxes(outputs) if len(outputs) == 2 else (outputs[0][:, BOX:], outputs[0][:, :BOX])
    return _at_centres(best_of(scores, least), boxes, size)


def _at_centres(best: Best, boxes: Floats, size: Size) -> Candidates:
    """Return candidates whose boxes are centres and sizes as shares of the input."""
    found = boxes[best.anchors]
    return best.with_boxes(around_centres(found[:, :2], found[:, 2:]) * _sides(size))


def boxes(outputs: Outputs, size: Size, least: float) -> Candidates:
    """Scores [anchors, classes] and boxes [anchors, 4]: left, top, right, bottom, in pixels or as shares.

    They are shares if none reaches 2: a box of a picture in pixels does.
    """
    scores, corners = scores_and_boxes(outputs)
    return _at_corners(best_of(scores, least), corners, size)


def _at_corners(best: Best, corners: Floats, size: Size) -> Candidates:
    are_shares = np.abs(corners).max(initial=0) < 2
    return best.with_boxes(corners[best.anchors] * (_sides(size) if are_shares else np.float32(1)))


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


def _by_distances(scores: Floats, sides: Floats, points: tuple[Floats, Floats], least: float) -> Candidates:
    """Return boxes whose sides lie at mean distances from points: the means of 8 shares, in strides."""
    best = best_of(scores, least)
    logits = sides[best.anchors].reshape(-1, BOX, BINS)
    shares = np.exp(logits - logits.max(axis=2, keepdims=True))
    means = shares @ np.arange(BINS, dtype=np.float32) / shares.sum(axis=2)
    centres, steps = (each[best.anchors] for each in points)
    left_top, right_bottom = means[:, :2] * steps, means[:, 2:] * steps
    return best.with_boxes(np.concatenate([centres - left_top, centres + right_bottom], axis=1))


def _exp(logarithms: Floats) -> Floats:
    """Return e to the power of these, of which none becomes infinite."""
    return np.exp(np.minimum(logarithms, LARGEST_LOGARITHM))


def _sigmoid(numbers: Floats) -> Floats:
    return np.asarray((1 + np.tanh(numbers / 2)) / 2, np.float32)


def _logit(share: float) -> float:
    """Return the number whose sigmoid this is: infinite for 0 and 1."""
    with np.errstate(divide="ignore"):
        return float(np.log(share) - np.log1p(-share))


def _by_stride(outputs: Outputs) -> Floats:
    """Join outputs of several strides: the finest grid, which has the most cells, first."""
    return np.concatenate(sorted(outputs, key=len, reverse=True))


def _sides(size: Size) -> Floats:
    height, width = size
    return np.array([width, height, width, height], np.float32)


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


def _classes_of_yolo(shapes: Shapes) -> int:
    (shape,) = shapes
    return min(shape) - BOX if shape[0] < shape[1] else shape[1] - 5


def _scores_of_pair(shapes: Shapes) -> int:
    pair = pair_of(shapes)
    assert pair, "recognised"  # noqa: S101
    return pair.classes(shapes)


DECODERS: Mapping[Decode, Decoder] = {
    "yolox": Decoder(yolox, lambda shapes: shapes[0][1] - 5, RECIPES["yolox"]),
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
    "fastestdet": Decoder(
        fastestdet, lambda shapes: shapes[0][0] - 5, Recipe("stretch", "bgr", 1 / 255, (0.0,), (1.0,))
    ),
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
