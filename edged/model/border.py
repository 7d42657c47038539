"""Borders around an image as an operator of its own: each pixel is one of the input, or zero."""

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Float32, Int32, Interpolate, Pads, Shape

MODES = ("constant", "edge", "reflect", "wrap")  # as ONNX's Pad and NumPy's have them


def border(name: str, tensor: str, shape: Shape, pads: Pads, mode: str = "constant") -> Interpolate:
    """Return the operator that writes `name`: the image `tensor` of `shape` with `pads` of a kind in `MODES`."""
    _, height, width = shape
    top, left, bottom, right = pads
    rows, row_weights = _table(height, top, bottom, mode)
    columns, column_weights = _table(width, left, right, mode)
    return Interpolate(name, (tensor,), name, rows, row_weights, columns, column_weights)


def _table(size: int, before: int, after: int, mode: str) -> tuple[Int32, Float32]:
    """Return the place of each pixel along a side, and its weight: 0 of those beyond it that are zero."""
    around = (before, after)
    weights = np.pad(np.ones(size, np.float32), around, mode="constant" if mode == "constant" else "edge")
    indices = np.pad(np.arange(size, dtype=np.int32), around, mode=mode)  # type: ignore[call-overload]
    return indices[:, np.newaxis], weights[:, np.newaxis]


def outside_of(shape: Shape, pads: Pads) -> NDArray[np.bool_]:
    """Return which pixels of the image with these pads, [1, rows, columns], are not of the image of `shape`."""
    _, height, width = shape
    top, left, bottom, right = pads
    inside = np.zeros((height, width), np.bool_)
    return np.pad(inside, ((top, bottom), (left, right)), constant_values=True)[np.newaxis]
