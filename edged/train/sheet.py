"""Many small pictures on one sheet, each with two lines below it."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.train.curve import Picture, write

SIDE, CAPTION, GAP, ACROSS = 112, 40, 10, 8


def contact_sheet(
    pictures: Sequence[NDArray[np.uint8]], captions: Sequence[tuple[str, str]], across: int = ACROSS
) -> Picture:
    """uint8 RGB. pictures: one or more, uint8 [height, width, 3 (RGB) or 1]; all get the same longer side."""
    rows = -(-len(pictures) // across)
    across = min(across, len(pictures))
    sheet = np.full((GAP + rows * (SIDE + CAPTION + GAP), GAP + across * (SIDE + GAP), 3), 255, np.uint8)
    for index, (picture, lines) in enumerate(zip(pictures, captions, strict=True)):
        row, column = divmod(index, across)
        x, y = GAP + column * (SIDE + GAP), GAP + row * (SIDE + CAPTION + GAP)
        small = _fitted(picture)
        sheet[y : y + small.shape[0], x : x + small.shape[1]] = small
        for line, text in enumerate(lines):
            write(sheet, text[:15], (x, y + SIDE + 15 + 16 * line), size=0.42)
    return sheet


def _fitted(picture: NDArray[np.uint8]) -> Picture:
    """Its longer side is `SIDE`; small ones show their pixels."""
    height, width = picture.shape[:2]
    scale = SIDE / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    how = cv2.INTER_NEAREST if scale >= 2 else cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = np.asarray(cv2.resize(np.ascontiguousarray(picture), size, interpolation=how), np.uint8)
    return np.broadcast_to(small.reshape(*small.shape[:2], -1), (*small.shape[:2], 3))
