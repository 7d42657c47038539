"""An operator with inputs and the correct answer, which every candidate must compute."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.layout import Element, Tensor
from edged.engine.variants.variant import Site
from edged.model import reference
from edged.model.graph import Dense

TOLERANCE = 1e-4  # of the range; Winograd's F(4×4, 3×3) needs most of it
HALF_TOLERANCE = 1e-2
HALVES = {Element.FLOAT16, Element.BFLOAT16}


@dataclass(frozen=True, eq=False)
class ReferenceProblem:
    """`inputs`: float32 [frames, channels, height, width] each; `expected`: the same in float64."""

    site: Site[Any]
    inputs: tuple[NDArray[np.float32], ...]
    expected: NDArray[np.float64]

    @property
    def tolerance(self) -> float:
        """Return the largest accepted error, as a share of the range of the correct answer."""
        tensors = (*self.site.inputs, self.site.output)
        is_half = self.site.half_weights or any(each.element in HALVES for each in tensors)
        return HALF_TOLERANCE if is_half else TOLERANCE

    def error(self, found: NDArray[np.float32] | None) -> float:
        """Return the largest error as a share of the range; infinite if there is a NaN or no answer."""
        if found is None or not np.isfinite(found).all():
            return float("inf")
        return float(np.abs(found - self.expected).max() / max(np.abs(self.expected).max(), 1e-30))


def problem_of(site: Site[Any]) -> ReferenceProblem:
    """Make a problem with normally distributed inputs and the operator's own weights."""
    random = np.random.default_rng(0)
    inputs = tuple(random.standard_normal(_shape(tensor), np.float32) for tensor in site.inputs)
    frames = [
        reference.compute(site.operator, *(_as_read(site, x[i : i + 1]).astype(np.float64) for x in inputs))
        for i in range(site.output.frames)  # one frame at a time: its patches take far more memory than the frame
    ]
    return ReferenceProblem(site, inputs, np.concatenate(frames).reshape(_shape(site.output)))


def _shape(tensor: Tensor) -> tuple[int, int, int, int]:
    return tensor.frames, tensor.channels, tensor.height, tensor.width


def _as_read(site: Site[Any], x: NDArray[np.float32]) -> NDArray[np.float32]:
    return x.reshape(len(x), -1) if isinstance(site.operator, Dense) else x
