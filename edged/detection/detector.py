"""What makes boxes of a network's outputs, and of those the boxes in a camera's picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from edged.detection.candidates import Candidates, Floats
from edged.detection.decoders import DECODERS, Outputs, Shapes, Size
from edged.messages.detection import Across, Decode, DecodeKnownBy, FoundBox

SOURCES = {"config": "from the config", "file": "from the model's file", "network": "as its outputs look"}


class InPicture(Protocol):
    """How boxes in pixels of the network's input lie in a picture."""

    def shares(self, boxes: Floats) -> Floats:
        """Return boxes [n, 4] as shares of the picture."""


@dataclass(frozen=True)
class BoxLimits:
    """Which boxes are reported: at most `most` a picture, of widths and heights from `smallest` on, a share of it.

    thresholds: least score by class. overlap, across: see `suppression.suppressed`.
    """

    thresholds: tuple[float, ...]
    overlap: float
    across: Across
    most: int
    smallest: float


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
        found = self.without_overlaps(self.candidates(outputs))
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
        thresholds = np.array(self.limits.thresholds, np.float32)
        found = DECODERS[self.decode].decode(self._split(outputs), self.size, float(thresholds.min()))
        return found.chosen(np.flatnonzero(found.scores >= thresholds[found.classes]))

    def _split(self, outputs: NDArray[np.float32]) -> Outputs:
        parts: Sequence[Floats] = np.split(outputs.reshape(-1), self.begins[1:])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    @property
    def described(self) -> str:
        """Describe the layout of the outputs, and the source of this knowledge, for people."""
        shapes = ", ".join("×".join(map(str, shape)) for shape in self.shapes)
        return f"{self.decode}, from {shapes} ({SOURCES[self.known_by]})"
