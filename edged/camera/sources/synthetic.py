"""A camera without hardware: digits or shapes on varied backdrops, with the true label of each frame.

`hershey_digits.json` holds, by font, the strokes of each digit, each a list of [x, y], y downwards. The Hershey
fonts were made by Dr. A. V. Hershey at the U.S. National Bureau of Standards; James Hurt, Cognition, Inc., made
the format in which they are distributed. They are free for any use. The five shapes are unknown to every bundled
model, so a board can be taught them.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

import cv2
import numpy as np
import numpy.typing as npt

from edged.camera.sources.source import Pace, Picture, Sleep, sleep_ns
from edged.drawing.scene import compose, render
from edged.errors import CameraError
from edged.messages import USUAL_WAIT_S
from edged.pictures.prepare import Pixels

TALL = 256
# Thinnest and thickest pen as shares of the height: it must close the doubled outlines of the bold fonts.
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

SIDE = 256  # of a shape's mask
PEN = (24, 44)  # pen widths of shapes
SHARP = 4  # fraction bits of a coordinate
CORNERS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "square": ((0, 0), (1, 0), (1, 1), (0, 1)),
    "triangle": ((0.5, 0), (1, 0.87), (0, 0.87)),
}
SHAPES = ("cross", "disc", "ring", *CORNERS)

NOTHING = "nothing"  # the label of an empty scene
NOTHING_SHARE = 1 / 8
SCENE_S = (0.4, 0.9)  # seconds that a scene stays, drifting, before the next one
SHAPE_S = (0.1, 0.3)  # for shapes: many views of each within a few seconds, for teaching
LEAST_SIDE = 32


def draw_glyph(rng: np.random.Generator, digit: int) -> npt.NDArray[np.uint8]:
    """Draw `digit` with a random font, pen, width and slant.

    Returns its mask, uint8 [256, width], 255 is ink, cropped to the ink.
    """
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
    """Read the strokes: points by font, digit and stroke."""
    fonts: dict[str, list[list[list[list[int]]]]]
    fonts = json.loads((files("edged.camera") / "hershey_digits.json").read_text())
    return fonts


def draw_shape(rng: np.random.Generator, shape: str) -> npt.NDArray[np.uint8]:
    """Draw `shape` with a random pen width; returns its mask, uint8 [height, width], 255 is ink, cropped."""
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


class Synthetic:
    """Draws `fps` pictures a second of `width` × `height`: the same ones for the same seed, after each `open`."""

    longest_wait_s = USUAL_WAIT_S

    def __init__(
        self,
        width: int,
        height: int,
        fps: float,
        seed: int,
        sleep: Sleep = sleep_ns,
        *,
        subject: str = "digits",
    ) -> None:
        """Prepare to draw `subject`, one of `config.SYNTHETIC`."""
        self._subject = subject
        self._width = width
        self._height = height
        self._fps = fps
        self._seed = seed
        self._sleep = sleep
        self._restart()

    def open(self) -> None:
        """Begin with the first picture. Raises CameraError for a size at which nothing can be seen."""
        if min(self._width, self._height) < LEAST_SIDE:
            raise CameraError(
                f"a synthetic camera of {self._width}×{self._height} pixels is too small for {self._subject}; "
                f"give a size of {LEAST_SIDE}×{LEAST_SIDE} at least"
            )
        self._restart()

    def read(self) -> Picture:
        """Return the next picture, when its time has come.

        Its truth is "0" … "9" or "nothing", or a shape's name.
        """
        # not drawn earlier: until now the frame before it has the processor to itself
        self._pace.wait_until(self._read / self._fps)
        self._read += 1
        return next(self._pictures)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _restart(self) -> None:
        self._pictures = draw_pictures(self._seed, self._width, self._height, self._fps, self._subject)
        self._pace = Pace(sleep=self._sleep)
        self._read = 0


def draw_pictures(seed: int, width: int, height: int, fps: float, subject: str = "digits") -> Iterator[Picture]:
    """Yield pictures of scene after scene without end, `width` × `height`, moving as at `fps`."""
    rng = np.random.default_rng(seed)
    while True:
        truth, mask = _next(rng, subject)
        scene = compose(rng, width, height, mask)
        pictures = max(1, round(fps * rng.uniform(*(SCENE_S if subject == "digits" else SHAPE_S))))
        for index in range(pictures):
            yield Picture(render(rng, scene, index / pictures), truth)


def _next(rng: np.random.Generator, subject: str) -> tuple[str, Pixels | None]:
    """Return what the next scene shows, and its mask."""
    if subject == "digits":
        digit = None if rng.random() < NOTHING_SHARE else int(rng.integers(10))
        return (NOTHING, None) if digit is None else (str(digit), draw_glyph(rng, digit))
    shape = SHAPES[rng.integers(len(SHAPES))] if subject == "shapes" else subject
    return shape, draw_shape(rng, shape)
