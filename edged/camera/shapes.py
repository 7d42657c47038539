"""Five shapes as masks: something that no bundled model knows, and that a board can be taught."""

from collections.abc import Mapping

import cv2
import numpy as np
import numpy.typing as npt

SIDE = 256
PEN = (24, 44)  # thinnest and thickest, of what is drawn with one
SHARP = 4  # bits of a pixel's fraction
CORNERS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "square": ((0, 0), (1, 0), (1, 1), (0, 1)),
    "triangle": ((0.5, 0), (1, 0.87), (0, 0.87)),
}
SHAPES = ("cross", "disc", "ring", *CORNERS)


def draw_shape(rng: np.random.Generator, shape: str) -> npt.NDArray[np.uint8]:
    """Mask of `shape`, uint8 [height, width], 255 is ink, cut to its ink; the pen's width at random."""
    mask, pen, middle = np.zeros((SIDE, SIDE), np.uint8), int(rng.integers(*PEN)), SIDE // 2
    match shape:
        case "disc":
            cv2.circle(mask, (middle, middle), middle - 1, (255,), -1, cv2.LINE_AA)
        case "ring":
            cv2.circle(mask, (middle, middle), middle - pen // 2 - 1, (255,), pen, cv2.LINE_AA)
        case "cross":
            mask[:, middle - pen // 2 : middle + pen // 2] = 255
            mask[middle - pen // 2 : middle + pen // 2] = 255
        case _:
            corners = np.rint(np.array(CORNERS[shape]) * (SIDE - 1) * (1 << SHARP)).astype(np.int32)
            cv2.fillPoly(mask, [corners], (255,), cv2.LINE_AA, SHARP)
    rows, columns = np.nonzero(mask)
    return mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
