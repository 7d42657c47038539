"""Where a picture lies in the frame that is made of it, and boxes of the frame in the picture."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float32]  # [n, 4]: left, top, right, bottom


@dataclass(frozen=True)
class Rectangle:
    """Whole pixels of a picture or a frame."""

    left: int
    top: int
    width: int
    height: int

    def shares(self, width: int, height: int) -> tuple[float, float, float, float] | None:
        """Return left, top, right and bottom as shares of a picture of this size; None if this is all of it."""
        if (self.left, self.top, self.width, self.height) == (0, 0, width, height):
            return None
        right, bottom = self.left + self.width, self.top + self.height
        return self.left / width, self.top / height, right / width, bottom / height

    def of(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return this part of `pixels`, a view."""
        return pixels[self.top : self.top + self.height, self.left : self.left + self.width]


@dataclass(frozen=True)
class Placement:
    """Where the whole picture lies, in pixels of a frame; it may reach beyond the frame."""

    left: float
    top: float
    width: float
    height: float

    @property
    def as_numbers(self) -> tuple[float, float, float, float]:
        """Return left, top, width and height."""
        return self.left, self.top, self.width, self.height

    def fills(self, width: int, height: int) -> bool:
        """Return whether the picture fills a frame of this size exactly."""
        return self.as_numbers == (0, 0, width, height)

    def shares(self, boxes: Boxes) -> Boxes:
        """Return boxes [n, 4] in pixels of the frame as shares of the picture, clipped to 0 … 1, float32."""
        begin, size = np.array((self.left, self.top) * 2), np.array((self.width, self.height) * 2)
        return np.asarray(np.clip((boxes - begin) / size, 0, 1), np.float32)

    def around(self, part: Rectangle, width: int, height: int) -> "Placement":
        """Return where the picture of `width` × `height` pixels lies whose `part` lies here."""
        across, down = self.width / part.width, self.height / part.height
        return Placement(self.left - part.left * across, self.top - part.top * down, width * across, height * down)
