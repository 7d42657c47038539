"""MNIST's digits as ink masks for `edged.drawing.scene`, plain for measuring, varied for training."""

import cv2
import numpy as np
import numpy.typing as npt

from edged.train.drawn.print_marks import add_print_marks

Bytes = npt.NDArray[np.uint8]
SIDE = 112
BORDER = 12
AXIS = np.arange(SIDE, dtype=np.float32) * np.float32(28 / SIDE) - np.float32(13.5)  # in pixels of the 28 × 28
DROOP = 1 - (AXIS[:, None] / np.float32(14)) ** 2


def plain_mask(image: Bytes) -> Bytes:
    """The digit as it is, four times as large, uint8, cut to its ink."""
    return _cut(np.asarray(cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.uint8))


def turned(rng: np.random.Generator, image: Bytes, digit: int) -> tuple[Bytes, int]:
    """Some 9s upside down as 6s, and 6s as 9s: print gives both a round back and a closed bowl."""
    if digit not in (6, 9) or rng.random() < 0.6:
        return image, digit
    return image[::-1, ::-1], 15 - digit


def varied_mask(rng: np.random.Generator, image: Bytes, digit: int) -> Bytes:
    """The digit written differently: bent, slanted, thinner or thicker, with the edges and marks of print."""
    if rng.random() < 0.4:
        return plain_mask(image)
    large = cv2.remap(np.ascontiguousarray(image), *_bend(rng), cv2.INTER_LINEAR)
    smooth = np.asarray(cv2.GaussianBlur(large, (0, 0), rng.uniform(1.0, 2.5)), np.uint8)
    inside = np.pad((smooth > 110).astype(np.uint8), BORDER)
    pen = _pen(inside)
    add_print_marks(rng, inside, digit, max(1, round(2 * pen)))
    return _cut(_repenned(rng, inside, pen))


def _bend(rng: np.random.Generator) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Where each of 112 × 112 pixels comes from in the 28 × 28: slant, aspect, a lower or higher waist, waves."""
    cells = int(rng.integers(3, 6))
    field = rng.normal(0, rng.uniform(0, 0.9), (cells, cells, 2)).astype(np.float32)
    wave = np.asarray(cv2.resize(field, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.float32)
    narrow, slant, sag = rng.uniform(0.85, 1.3), rng.normal(0, 0.2), rng.normal(0, 1.2)
    from_x = AXIS * narrow + AXIS[:, None] * slant + wave[..., 0] + 13.5
    return from_x.astype(np.float32), (DROOP * sag + AXIS[:, None] * 1.05 + wave[..., 1] + 13.5).astype(np.float32)


def _pen(inside: Bytes) -> float:
    """Half the width of the strokes, in pixels."""
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 3)
    return float(np.percentile(depth[inside > 0], 90)) if inside.any() else 0.0


def _repenned(rng: np.random.Generator, inside: Bytes, pen: float) -> Bytes:
    """Another stroke width: the outline moves along the distance to it."""
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 3)
    outside = cv2.distanceTransform(1 - inside, cv2.DIST_L2, 3)
    moved = rng.uniform(-0.65 * pen, max(0.5, min(0.6 * pen, 9 - pen)))
    return np.asarray(np.clip((depth - outside + moved) * 255 + 128, 0, 255), np.uint8)


def _cut(mask: Bytes) -> Bytes:
    x, y, width, height = cv2.boundingRect((mask > 64).astype(np.uint8))
    return mask[y : y + height, x : x + width] if width else mask
