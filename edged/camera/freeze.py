"""Whether a camera gives the same picture again and again: its sensor hangs while its electronics send on."""

import zlib

from edged.camera.sources.picture import Pixels
from edged.clock import nanoseconds

EVERY_ROW = 8  # a sensor's noise shows in any eighth of its rows


class Freeze:
    """Remembers since when the pictures have been byte for byte the same; noise alone tells a still scene."""

    def __init__(self, frozen_s: float) -> None:
        """`frozen_s`: so long the same is frozen; 0: never."""
        self._frozen_ns = nanoseconds(frozen_s)
        self._same = 0
        self._since_ns: int | None = None

    def frozen(self, pixels: Pixels, at_ns: int) -> bool:
        """Whether, with this picture, the camera stands still. `pixels`: uint8 [H, W, 3]."""
        if not self._frozen_ns:
            return False
        digest = zlib.crc32(pixels[::EVERY_ROW].tobytes())
        if self._since_ns is None or digest != self._same:
            self._same, self._since_ns = digest, at_ns
        return at_ns - self._since_ns >= self._frozen_ns
