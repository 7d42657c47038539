"""A camera that needs no hardware: digits or shapes on all kinds of backdrops, and it knows the truth."""

from collections.abc import Iterator

import numpy as np

from edged.camera.glyphs import draw_glyph
from edged.camera.shapes import SHAPES, draw_shape
from edged.camera.sources.pace import Pace, Sleep, sleep_ns
from edged.camera.sources.picture import Picture, Pixels
from edged.drawing.scene import compose, render
from edged.errors import CameraError

NOTHING = "nothing"
NOTHING_SHARE = 1 / 8
SCENE_S = (0.4, 0.9)  # how long it stays, drifting, before the next one comes
SHAPE_S = (0.1, 0.3)  # the same for a shape: many views of it within a few seconds, to be learnt from
LEAST_SIDE = 32


class Synthetic:
    """Draws `fps` pictures a second of `width` × `height`: the same ones for the same seed, after each `open`."""

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
        """`subject`: of `config.SYNTHETIC`."""
        self._subject = subject
        self._width = width
        self._height = height
        self._fps = fps
        self._seed = seed
        self._sleep = sleep
        self._begin()

    def open(self) -> None:
        """Begin with the first picture. Raises CameraError for a size at which nothing can be seen."""
        if min(self._width, self._height) < LEAST_SIDE:
            raise CameraError(
                f"a synthetic camera of {self._width}×{self._height} pixels is too small for {self._subject}; "
                f"give a size of {LEAST_SIDE}×{LEAST_SIDE} at least"
            )
        self._begin()

    def read(self) -> Picture:
        """The next picture, when its time has come; its truth is "0" … "9" or "nothing", or a shape's name."""
        # drawn when its time has come, not before: then the frame before it has the processor to itself
        self._pace.wait_until(self._read / self._fps)
        self._read += 1
        return next(self._pictures)

    def close(self) -> None:
        """Nothing is held open."""

    def _begin(self) -> None:
        self._pictures = draw_pictures(self._seed, self._width, self._height, self._fps, self._subject)
        self._pace = Pace(sleep=self._sleep)
        self._read = 0


def draw_pictures(seed: int, width: int, height: int, fps: float, subject: str = "digits") -> Iterator[Picture]:
    """Scene after scene without end, `width` × `height`, moving as it would at `fps` pictures a second."""
    rng = np.random.default_rng(seed)
    while True:
        truth, mask = _next(rng, subject)
        scene = compose(rng, width, height, mask)
        pictures = max(1, round(fps * rng.uniform(*(SCENE_S if subject == "digits" else SHAPE_S))))
        for index in range(pictures):
            yield Picture(render(rng, scene, index / pictures), truth)


def _next(rng: np.random.Generator, subject: str) -> tuple[str, Pixels | None]:
    """What the next scene shows, and its mask."""
    if subject == "digits":
        digit = None if rng.random() < NOTHING_SHARE else int(rng.integers(10))
        return (NOTHING, None) if digit is None else (str(digit), draw_glyph(rng, digit))
    shape = SHAPES[rng.integers(len(SHAPES))] if subject == "shapes" else subject
    return shape, draw_shape(rng, shape)
