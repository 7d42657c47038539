"""Printed digits as masks, drawn from the Hershey fonts (public-domain strokes, package Hershey-Fonts)."""

from functools import cache

import cv2
import numpy as np
import numpy.typing as npt
from HersheyFonts import HersheyFonts

Strokes = tuple[npt.NDArray[np.float64], ...]
TALL = 256
# Thinnest and thickest pen as shares of the height: the doubled outlines of the bold faces must close.
FONTS = {
    "futural": (0.06, 0.15),
    "rowmans": (0.06, 0.15),
    "scripts": (0.06, 0.11),
    "timesr": (0.06, 0.11),
    "timesi": (0.06, 0.11),
    "timesrb": (0.07, 0.11),
    "timesib": (0.07, 0.11),
    "futuram": (0.07, 0.12),
    "rowmand": (0.07, 0.12),
    "rowmant": (0.07, 0.10),
}


def draw_glyph(rng: np.random.Generator, digit: int) -> npt.NDArray[np.uint8]:
    """Mask of `digit`, uint8 [256, width], 255 is ink, cut to its ink; font, pen, width and slant at random."""
    font = tuple(FONTS)[rng.integers(len(FONTS))]
    pen = round(TALL * rng.uniform(*FONTS[font]))
    widen, slant = rng.uniform(0.85, 1.2), rng.uniform(-0.05, 0.15)
    strokes = [line @ np.array([[widen, 0], [-slant, 1]]) for line in _strokes(font, digit)]
    points = np.concatenate(strokes)
    least, size = points.min(0), np.ptp(points, axis=0)
    scale, border = (TALL - pen) / size[1], pen / 2
    mask = np.zeros((TALL, round(size[0] * scale) + pen), np.uint8)
    lines = [np.rint(((line - least) * scale + border) * 16).astype(np.int32) for line in strokes]
    return np.asarray(cv2.polylines(mask, lines, False, (255,), pen, cv2.LINE_AA, 4), np.uint8)


@cache
def _strokes(font: str, digit: int) -> Strokes:
    """The pen's ways, each [points, 2] as (x, y), y downwards."""
    face = HersheyFonts()
    face.load_default_font(font)
    return tuple(np.array(stroke, float) for stroke in face.strokes_for_text(str(digit)) if stroke)
