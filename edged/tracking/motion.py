"""How a box moves: a Kalman filter with constant velocity.

Zhang et al., ByteTrack (2022), with noise in proportion to width and height (Aharon et al., BoT-SORT, 2022). The
noise of each number is independent, so the filter of eight values falls into one for each number of the box, and
those of the centre and the size of an axis have the same variances. So plain numbers do: the hub imports no NumPy.
"""

from dataclasses import dataclass
from typing import Self

from edged.messages.detection import Corners

# Standard deviations, as shares of the size. ByteTrack has 1/20, 1/20 and 1/160, by which more objects lost their
# number where frames are dropped (`python -m bench.tracking`).
SEEN = 1 / 20  # of where a detector sees a box
PUSHED, TURNED = 1 / 40, 1 / 80  # by which position and speed change in a frame
FIRST_POSITION, FIRST_SPEED = 2 * SEEN, 10 * TURNED  # of a box that was seen once
SMALLEST = 1e-6  # size


@dataclass(slots=True)
class AxisMotion:
    """Centre and size of a box across or down, their speeds by a frame, and the variances that both share."""

    centre: float
    size: float
    variance: float
    speed_variance: float
    covariance: float = 0.0
    centre_speed: float = 0.0
    size_speed: float = 0.0

    @classmethod
    def of(cls, low: float, high: float) -> Self:
        """Return the axis of a box that was seen once."""
        size = max(SMALLEST, high - low)
        return cls((low + high) / 2, size, (FIRST_POSITION * size) ** 2, (FIRST_SPEED * size) ** 2)

    def advance(self, frames: int) -> None:
        """Move on by so many frames, of which nothing is known."""
        self.centre += frames * self.centre_speed
        self.size = max(SMALLEST, self.size + frames * self.size_speed)
        self.variance += (
            2 * frames * self.covariance + frames**2 * self.speed_variance + frames * (PUSHED * self.size) ** 2
        )
        self.covariance += frames * self.speed_variance
        self.speed_variance += frames * (TURNED * self.size) ** 2

    def correct(self, low: float, high: float) -> None:
        """Take in where the box was seen."""
        total = self.variance + (SEEN * self.size) ** 2
        gain, speed_gain = self.variance / total, self.covariance / total
        off, larger = (low + high) / 2 - self.centre, high - low - self.size
        self.centre += gain * off
        self.size = max(SMALLEST, self.size + gain * larger)
        self.centre_speed += speed_gain * off
        self.size_speed += speed_gain * larger
        self.speed_variance -= speed_gain * self.covariance
        self.covariance -= gain * self.covariance
        self.variance -= gain * self.variance

    def ends(self, frames: int = 0) -> tuple[float, float]:
        """Return where it begins and ends, so many frames from now."""
        centre, half = self.centre + frames * self.centre_speed, self.size / 2
        return centre - half, centre + half


class Motion:
    """Where a box is, and how it moves."""

    def __init__(self, box: Corners) -> None:
        left, top, right, bottom = box
        self._across, self._down = AxisMotion.of(left, right), AxisMotion.of(top, bottom)

    def advance(self, frames: int, *, is_seen: bool) -> None:
        """Move on by so many frames. One that was not seen keeps its size: what hides it changed that."""
        for axis in (self._across, self._down):
            if not is_seen:
                axis.size_speed = 0.0
            axis.advance(frames)

    def correct(self, box: Corners) -> None:
        """Take in where it was seen."""
        left, top, right, bottom = box
        self._across.correct(left, right)
        self._down.correct(top, bottom)

    def box(self, frames: int = 0) -> Corners:
        """Return where it is, so many frames from now; before now if that is negative."""
        (left, right), (top, bottom) = self._across.ends(frames), self._down.ends(frames)
        return left, top, right, bottom
