"""Decide which frames to send: at most the configured rate, only after a change; and find frozen cameras."""

import zlib

import cv2
import numpy as np

from edged.clock import NANOSECONDS, nanoseconds
from edged.pictures.prepare import Pixels

WIDTH = 80  # a thumbnail averages sensor noise away and costs next to nothing to compare
NOISE = 12  # grey levels (of 255) by which noise alone may change a pixel of the blurred thumbnail
EVERY_ROW = 8  # a sensor's noise shows in any eighth of its rows

# Grey levels between thumbnails that an encoder alone does not make. Measured with x264 at 0.5 to 4 Mbit/s and key
# frames every 1 to 4 s, of 13 photos in 1280×720: a frozen picture differs by up to 1.2 on average and 6 in one
# cell, light that changes by 1 % by 1.2 on average, a person of 20×60 pixels by 13 in one cell.
CHANGED_MEAN, CHANGED_CELL = 1.5, 8
LOOK_EVERY_NS = NANOSECONDS // 2  # a thumbnail of 1920×1080 takes 3 ms


class Gate:
    """Remembers the last frame sent, and decides whether a new one may follow it."""

    def __init__(self, max_fps: float | None = None, motion: float = 0.0) -> None:
        """`max_fps`: frames a second, None for any number. `motion`: share of changed pixels, 0 for any."""
        self._interval_ns = round(NANOSECONDS / max_fps) if max_fps else 0
        self._motion = motion
        self._due_ns: int | None = None
        self._sent: Pixels | None = None
        self._latest: tuple[Pixels, Pixels] | None = None

    def refusal(self, pixels: Pixels, at_ns: int) -> str | None:
        """Return why a frame captured at `at_ns` is not to be sent (`max_fps` or `motion`), or None if it is."""
        if self._due_ns is not None and at_ns < self._due_ns:
            return "max_fps"
        if self._sent is not None and changed_share(self._sent, self._thumbnail(pixels)) < self._motion:
            return "motion"
        return None

    def frame_sent(self, pixels: Pixels, at_ns: int) -> None:
        """Remember the frame that was sent; the next ones are compared with it."""
        if self._interval_ns:
            self._due_ns = self._next_due_ns(at_ns)
        if self._motion:
            self._sent = self._thumbnail(pixels)

    def _thumbnail(self, pixels: Pixels) -> Pixels:
        """Return the thumbnail of a frame: computed once, although it is examined and then sent."""
        if self._latest is None or self._latest[0] is not pixels:
            self._latest = (pixels, thumbnail(pixels))
        return self._latest[1]

    def _next_due_ns(self, at_ns: int) -> int:
        # Counting on from when this frame was due keeps the average at max_fps although frames jitter;
        # after a pause there is nothing to catch up on.
        late = self._due_ns is None or at_ns - self._due_ns >= self._interval_ns
        return (at_ns if late or self._due_ns is None else self._due_ns) + self._interval_ns


def thumbnail(pixels: Pixels) -> Pixels:
    """Return `pixels` (uint8 [H, W, 3] RGB) as blurred grey, uint8 [height, at most 80]."""
    height, width = pixels.shape[:2]
    small_width = min(width, WIDTH)
    small_height = max(1, round(height * small_width / width))
    small = cv2.resize(pixels, (small_width, small_height), interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.GaussianBlur(grey, (5, 5), 0), np.uint8)


def changed_share(before: Pixels, after: Pixels) -> float:
    """Return the share (0 to 1) of pixels that differ by more than noise; 1 if the sizes differ."""
    if before.shape != after.shape:
        return 1.0
    return float(np.count_nonzero(cv2.absdiff(before, after) > NOISE)) / before.size


class Freeze:
    """Detects a frozen camera: its pictures stay identical, byte for byte.

    Noise alone changes those of a still scene.
    """

    def __init__(self, frozen_s: float) -> None:
        """`frozen_s`: how long pictures must stay identical until the camera counts as frozen; 0: never."""
        self._frozen_ns = nanoseconds(frozen_s)
        self._same = 0
        self._since_ns: int | None = None

    def frozen(self, pixels: Pixels, at_ns: int) -> bool:
        """Return whether the camera is frozen, this picture (uint8 [H, W, 3]) included."""
        if not self._frozen_ns:
            return False
        digest = zlib.crc32(pixels[::EVERY_ROW].tobytes())
        if self._since_ns is None or digest != self._same:
            self._same, self._since_ns = digest, at_ns
        return at_ns - self._since_ns >= self._frozen_ns


class Stillness:
    """Detects a scene in which nothing has changed, although an encoder makes each picture differ.

    It cannot tell a sensor that hangs from a living one before a still scene in constant light: a low bit
    rate removes the noise, by which they differ.
    """

    def __init__(self, still_s: float) -> None:
        """`still_s`: how long nothing may change until the scene counts as still; 0: never."""
        self._still_ns = nanoseconds(still_s)
        self.begin_again()

    def begin_again(self) -> None:
        """Forget what was seen: the camera was away meanwhile."""
        self._reference: Pixels | None = None  # taken when the stillness began: slow changes add up
        self._since_ns = self._looked_ns = 0

    def still(self, pixels: Pixels, at_ns: int) -> bool:
        """Return whether the scene is still, this picture (uint8 [H, W, 3]) included if it is looked at."""
        if not self._still_ns:
            return False
        if self._reference is None or at_ns - self._looked_ns >= LOOK_EVERY_NS:
            self._looked_ns = at_ns
            seen = thumbnail(pixels)
            if self._reference is None or has_changed(self._reference, seen):
                self._reference, self._since_ns = seen, at_ns
        return at_ns - self._since_ns >= self._still_ns


def has_changed(before: Pixels, after: Pixels) -> bool:
    """Return whether two thumbnails differ by more than encoders make pictures of the same scene differ."""
    if before.shape != after.shape:
        return True
    difference = cv2.absdiff(before, after)
    return bool(difference.mean() > CHANGED_MEAN or difference.max() > CHANGED_CELL)
