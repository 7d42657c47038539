"""Operators in NumPy, for the reference implementation of `onnx`, whose own are limited or take minutes.

Its GatherElements takes from at most 64 values; its GridSample is a loop of Python over channels and pixels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx.reference import op_run
from onnx.reference.ops import op_grid_sample

Array = NDArray[Any]
Floats = NDArray[np.float32]


class GatherElements(op_run.OpRun):
    """Take from `data` along an axis, at the indices of the same shape as the output."""

    op_domain = ""

    def _run(self, data: Array, indices: NDArray[np.int64], axis: int = 0) -> tuple[Array]:
        axis %= data.ndim
        sizes = (slice(None) if each == axis else slice(size) for each, size in enumerate(indices.shape))
        return (np.take_along_axis(data[tuple(sizes)], indices.astype(np.int64), axis),)


class GridSample(op_grid_sample.GridSample):
    """Sample images [n, channels, height, width] at positions [n, rows, columns, (x, y)] of −1 to 1.

    Linear between pixels, zero beyond the border: as attention with offsets has it (Zhu et al., Deformable DETR,
    2020). Other modes are computed by the class of `onnx`.
    """

    op_domain = ""

    def _run(
        self,
        X: Array,  # noqa: N803
        grid: Array,
        mode: str | None = None,
        padding_mode: str | None = None,
        align_corners: int | None = None,
    ) -> tuple[Array]:
        if X.ndim != 4 or (mode, padding_mode) != ("linear", "zeros"):
            others: tuple[Array] = super()._run(X, grid, mode, padding_mode, align_corners)  # type: ignore[no-untyped-call]
            return others
        sampled = [
            sampled_at(image, positions, bool(align_corners)) for image, positions in zip(X, grid, strict=True)
        ]
        return (np.stack(sampled),)


def sampled_at(image: Floats, positions: Floats, align_corners: bool) -> Floats:
    """Return [channels, rows, columns] of an image at positions [rows, columns, (x, y)].

    −1 and 1 are the centres of the outermost pixels if `align_corners`, else their outer edges.
    """
    sizes = np.array(image.shape[:0:-1], np.float32)  # width, height
    one = np.float32(1)
    places = (positions + one) / 2 * (sizes - 1) if align_corners else ((positions + one) * sizes - one) / 2
    first = np.floor(places)
    share = places - first
    total = np.zeros((len(image), *positions.shape[:2]), image.dtype)
    for right in (0, 1):
        for below in (0, 1):
            corner = first + np.array([right, below], first.dtype)
            inside = ((corner >= 0) & (corner < sizes)).all(axis=-1)
            x, y = np.moveaxis(np.where(inside[..., None], corner, 0).astype(np.int64), -1, 0)
            weights = np.abs((1 - right) - share[..., 0]) * np.abs((1 - below) - share[..., 1])
            total += image[:, y, x] * np.where(inside, weights, 0)
    return total


OPERATORS: list[type[op_run.OpRun]] = [GatherElements, GridSample]
