"""Printed digits as masks, drawn from the strokes of ten Hershey fonts.

`hershey_digits.json`: by font, for each digit its strokes, each a list of [x, y], y downwards. The Hershey fonts
were made by Dr. A. V. Hershey at the U.S. National Bureau of Standards; James Hurt, Cognition, Inc., made the
format that they are passed on in. They are free for any use.
"""

import json
from functools import cache
from importlib.resources import files

import cv2
import numpy as np
import numpy.typing as npt

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
    strokes = [np.array(line) @ np.array([[widen, 0], [-slant, 1]]) for line in _fonts()[font][digit]]
    points = np.concatenate(strokes)
    least, size = points.min(0), np.ptp(points, axis=0)
    scale, border = (TALL - pen) / size[1], pen / 2
    mask = np.zeros((TALL, round(size[0] * scale) + pen), np.uint8)
    lines = [np.rint(((line - least) * scale + border) * 16).astype(np.int32) for line in strokes]
    return np.asarray(cv2.polylines(mask, lines, False, (255,), pen, cv2.LINE_AA, 4), np.uint8)


@cache
def _fonts() -> dict[str, list[list[list[list[int]]]]]:
    """By font, digit and stroke: the points."""
    fonts: dict[str, list[list[list[list[int]]]]]
    fonts = json.loads((files("edged.camera") / "hershey_digits.json").read_text())
    return fonts
