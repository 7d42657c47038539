"""MNIST's digits as ink masks for `edged.drawing.scene`, plain for evaluation, varied for training.

Print has marks that handwriting mostly lacks: flags, feet, serifs, and the curls of 6 and 9. MNIST's digits get
them as additional strokes from the ends of theirs, with the same pen. Without them a network trained on MNIST
alone classifies a printed 1 as a 7 and a printed 6 as an 8.
"""

import cv2
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Point = tuple[int, int]

BARE = {1: 0.0, 6: 0.2, 9: 0.2}  # share that stays unchanged: a 1 with a flag is the digit most often confused
BARE_OTHERS = 0.35

SIDE = 112
BORDER = 12
AXIS = np.arange(SIDE, dtype=np.float32) * np.float32(28 / SIDE) - np.float32(13.5)  # in pixels of the 28 × 28
DROOP = 1 - (AXIS[:, None] / np.float32(14)) ** 2


def add_print_marks(rng: np.random.Generator, ink: Bytes, digit: int, pen: int) -> None:
    """Draw marks on `ink`, uint8 [h, w] of 0 and 1, with a pen of that many pixels; more often than not."""
    rows, columns = np.nonzero(ink)
    if not len(rows) or rng.random() < BARE.get(digit, BARE_OTHERS):
        return
    tall = int(np.ptp(rows)) + 1
    top, bottom = _end(rows, columns, rows.min()), _end(rows, columns, rows.max())
    match digit:
        case 1:
            _flag(rng, ink, top, tall, pen)
            if rng.random() < 0.5:
                _foot(rng, ink, bottom, rng.uniform(0.12, 0.3) * tall, pen)
        case 3:
            for half in (rows < rows.min() + 0.4 * tall, rows > rows.max() - 0.4 * tall):
                _ball(rng, ink, rows[half], columns[half], pen)
        case 4:
            if rng.random() < 0.5:
                _foot(rng, ink, bottom, rng.uniform(0.08, 0.18) * tall, pen)
        case 6:
            _curl(rng, ink, top, tall, pen, 1)
        case 7:
            left = columns[rows < rows.min() + 0.3 * tall].min()
            height = rows[columns == left].min()
            cv2.line(ink, (left, height), (left, height + int(rng.uniform(0.05, 0.18) * tall)), (1,), pen)
        case 9:
            _curl(rng, ink, bottom, tall, pen, -1)


def _end(rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], row: int) -> Point:
    return round(columns[np.abs(rows - row) <= 2].mean()), int(row)


def _flag(rng: np.random.Generator, ink: Bytes, top: Point, tall: int, pen: int) -> None:
    """Draw the short stroke of a 1 that runs down to the left from its top."""
    angle, length = np.deg2rad(rng.uniform(20, 65)), rng.uniform(0.1, 0.35) * tall
    x, y = top[0], top[1] + pen // 2
    cv2.line(ink, (x, y), (round(x - length * np.cos(angle)), round(y + length * np.sin(angle))), (1,), pen)


def _foot(rng: np.random.Generator, ink: Bytes, bottom: Point, half: float, pen: int) -> None:
    """Draw the bar below a 1 or 4."""
    x, y = bottom[0], bottom[1] - pen // 2
    ends = (round(x - half * rng.uniform(0.7, 1.3)), y), (round(x + half * rng.uniform(0.7, 1.3)), y)
    cv2.line(ink, *ends, (1,), pen)


def _ball(
    rng: np.random.Generator, ink: Bytes, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], pen: int
) -> None:
    """Draw the drop at the left end of a stroke."""
    first = columns.argmin()
    x, y = int(columns[first]) + pen // 2, int(rows[first])
    cv2.circle(ink, (x, y), round(pen * rng.uniform(0.5, 1.1)), (1,), -1)


def _curl(rng: np.random.Generator, ink: Bytes, end: Point, tall: int, pen: int, side: int) -> None:
    """Continue the tail in an arc: a 6 at its top to the right (side 1), a 9 at its foot to the left (side −1)."""
    across, up = round(rng.uniform(0.08, 0.26) * tall), round(rng.uniform(0.06, 0.18) * tall)
    centre = end[0] + side * across, end[1] + side * pen // 2
    start = 180 if side > 0 else 0
    stop = start + rng.uniform(90, 175)
    cv2.ellipse(ink, centre, (across, up), 0, start, stop, (1,), pen)
    if rng.random() < 0.4:
        x, y = centre[0] + across * np.cos(np.deg2rad(stop)), centre[1] + up * np.sin(np.deg2rad(stop))
        cv2.circle(ink, (round(x), round(y)), round(pen * rng.uniform(0.6, 1.0)), (1,), -1)


def plain_mask(image: Bytes) -> Bytes:
    """Return the digit unchanged, four times as large, uint8, cropped to its ink."""
    return _cut(np.asarray(cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.uint8))


def turned(rng: np.random.Generator, image: Bytes, digit: int) -> tuple[Bytes, int]:
    """Turn some 9s into 6s and 6s into 9s: printed ones have a round back and a closed bowl."""
    if digit not in (6, 9) or rng.random() < 0.6:
        return image, digit
    return image[::-1, ::-1], 15 - digit


def varied_mask(rng: np.random.Generator, image: Bytes, digit: int) -> Bytes:
    """Return the digit in another writing: bent, slanted, thinner or thicker, with marks of print."""
    if rng.random() < 0.4:
        return plain_mask(image)
    large = cv2.remap(np.ascontiguousarray(image), *_bend(rng), cv2.INTER_LINEAR)
    smooth = np.asarray(cv2.GaussianBlur(large, (0, 0), rng.uniform(1.0, 2.5)), np.uint8)
    inside = np.pad((smooth > 110).astype(np.uint8), BORDER)
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 3)
    pen = float(np.percentile(depth[inside > 0], 90)) if inside.any() else 0.0  # half the width of the strokes
    add_print_marks(rng, inside, digit, max(1, round(2 * pen)))
    return _cut(_repenned(rng, inside, pen))


def _bend(rng: np.random.Generator) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the source in 28 × 28 of each of 112 × 112 pixels: slant, aspect, a moved waist, waves."""
    cells = int(rng.integers(3, 6))
    field = rng.normal(0, rng.uniform(0, 0.9), (cells, cells, 2)).astype(np.float32)
    wave = np.asarray(cv2.resize(field, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.float32)
    narrow, slant, sag = rng.uniform(0.85, 1.3), rng.normal(0, 0.2), rng.normal(0, 1.2)
    from_x = AXIS * narrow + AXIS[:, None] * slant + wave[..., 0] + 13.5
    return from_x.astype(np.float32), (DROOP * sag + AXIS[:, None] * 1.05 + wave[..., 1] + 13.5).astype(np.float32)


def _repenned(rng: np.random.Generator, inside: Bytes, pen: float) -> Bytes:
    """Change the stroke width: the outline moves along the distance to it."""
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 3)
    outside = cv2.distanceTransform(1 - inside, cv2.DIST_L2, 3)
    moved = rng.uniform(-0.65 * pen, max(0.5, min(0.6 * pen, 9 - pen)))
    return np.asarray(np.clip((depth - outside + moved) * 255 + 128, 0, 255), np.uint8)


def _cut(mask: Bytes) -> Bytes:
    x, y, width, height = cv2.boundingRect((mask > 64).astype(np.uint8))
    return mask[y : y + height, x : x + width] if width else mask
