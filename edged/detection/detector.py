"""What makes boxes of a network's outputs, and of those the boxes in a camera's picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from edged.detection.candidates import Candidates, Floats, beside
from edged.detection.decoders import DECODERS
from edged.detection.outputs import Outputs, Shapes, Size
from edged.messages.detection import Across, Decode, DecodeKnownBy, FoundBox

FAINT = 0.1  # least score of a box by which a tracker continues a track (Zhang et al., ByteTrack, 2022)
SOURCES = {"config": "from the config", "file": "from the model's file", "network": "as its outputs look"}


class InPicture(Protocol):
    """How boxes in pixels of the network's input lie in a picture."""

    def shares(self, boxes: Floats) -> Floats:
        """Return boxes [n, 4] as shares of the picture."""


@dataclass(frozen=True)
class BoxLimits:
    """Which boxes are reported: at most `most` a picture, of widths and heights from `smallest` on, a share of it.

    thresholds: least score by class. overlap, across: see `suppression.suppressed`. with_faint: boxes of lower
    scores are found, too, for a tracker.
    """

    thresholds: tuple[float, ...]
    overlap: float
    across: Across
    most: int
    smallest: float
    with_faint: bool = False


@dataclass(frozen=True)
class Detector:
    """`shapes`: of the outputs of a frame, which follow each other in one vector. `size`: height and width."""

    decode: Decode
    known_by: DecodeKnownBy
    shapes: Shapes
    size: Size
    limits: BoxLimits

    @property
    def begins(self) -> tuple[int, ...]:
        """Return where each output begins in the vector of all; the first one is at 0."""
        return (0, *accumulate(map(prod, self.shapes[:-1])))

    def boxes(self, outputs: Floats, in_picture: InPicture) -> tuple[FoundBox, ...]:
        """Return the boxes of one frame's outputs [values], best first."""
        return self._found(self.without_overlaps(self.candidates(outputs)), in_picture)

    def clear_and_faint(
        self, outputs: Floats, in_picture: InPicture
    ) -> tuple[tuple[FoundBox, ...], tuple[FoundBox, ...]]:
        """Return the boxes of one frame's outputs [values], and those below their thresholds, each best first.

        A faint box that overlaps with a clear one is no second object: it is left out.
        """
        clear, faint = self._clear_and_faint(outputs)
        clear = self.without_overlaps(clear)
        if len(faint):
            faint = beside(self.without_overlaps(faint), clear, self.limits.overlap)
        return self._found(clear, in_picture), self._found(faint, in_picture)

    def _found(self, found: Candidates, in_picture: InPicture) -> tuple[FoundBox, ...]:
        """Return candidates as boxes in the picture, without those that are too small."""
        shares = in_picture.shares(found.boxes)
        is_large = (shares[:, 2:] - shares[:, :2] > self.limits.smallest).all(axis=1)
        found, shares = found.chosen(np.flatnonzero(is_large)), shares[is_large]
        return tuple(
            FoundBox(
                index=int(index), score=float(score), box=(float(left), float(top), float(right), float(bottom))
            )
            for index, score, (left, top, right, bottom) in zip(found.classes, found.scores, shares, strict=True)
        )

    def without_overlaps(self, candidates: Candidates) -> Candidates:
        """Return the best candidates, without those that overlap with a better one."""
        from edged.detection.suppression import suppressed  # OpenCV, which a classifier does without

        return suppressed(candidates, self.limits.overlap, self.limits.across, self.limits.most)

    def warm_up(self) -> None:
        """Load OpenCV and compute what each frame needs: the first frame could wait too long for them."""
        self.without_overlaps(self.candidates(np.zeros(sum(map(prod, self.shapes)), np.float32)))

    def candidates(self, outputs: Floats) -> Candidates:
        """Return the candidates of one frame's outputs [values] that reach the thresholds of their classes."""
        return self._clear_and_faint(outputs)[0]

    def _clear_and_faint(self, outputs: Floats) -> tuple[Candidates, Candidates]:
        """Return the candidates that reach their thresholds; then those below, if they are wanted."""
        thresholds = np.array(self.limits.thresholds, np.float32)
        least = float(thresholds.min())
        least = min(least, FAINT) if self.limits.with_faint else least
        found = DECODERS[self.decode].decode(self._split(outputs), self.size, least)
        is_clear = found.scores >= thresholds[found.classes]
        faint = np.flatnonzero(~is_clear) if self.limits.with_faint else np.array([], np.intp)
        return found.chosen(np.flatnonzero(is_clear)), found.chosen(faint)

    def _split(self, outputs: NDArray[np.float32]) -> Outputs:
        parts: Sequence[Floats] = np.split(outputs.reshape(-1), self.begins[1:])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    @property
    def described(self) -> str:
        """Describe the layout of the outputs, and the source of this knowledge, for people."""
        shapes = ", ".join("×".join(map(str, shape)) for shape in self.shapes)
        return f"{self.decode}, from {shapes} ({SOURCES[self.known_by]})"
