"""Where each pixel of a resized axis comes from: the pixels of the input that it is made of, and their weights.

Formulas are those of the ONNX operator specification (https://onnx.ai/onnx/operators/onnx__Resize.html). Sizes and
coordinates are computed in float32, and corners by whole sizes, as onnxruntime does: a scale that an exporter
wrote as size out ÷ size in then makes the size and takes the pixels that it did in the framework.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.graph import Float32, Int32

MODES = {"nearest": 1, "linear": 2, "cubic": 4}  # with the number of pixels that each takes along an axis
BY_REGION = "tf_crop_and_resize"
HALF = np.float32(0.5)
HALF_WITHIN = 1e-6


@dataclass(frozen=True)
class Resampling:
    """One axis: of `size_in` pixels it gets `size_out`, in steps of 1 ÷ `scale`.

    region: the first and the last place, as shares of the axis, of `tf_crop_and_resize`.
    """

    size_in: int
    size_out: int
    scale: np.float32
    region: tuple[np.float32, np.float32] = (np.float32(0), np.float32(1))

    @property
    def changes(self) -> bool:
        """Return whether any pixel may come from another place."""
        return self.size_in != self.size_out or bool(self.scale != 1)


def table(node: OnnxNode, axis: Resampling) -> tuple[Int32, Float32]:
    """Return indices and weights, each [size_out, taps]; weights are 0 beyond a region. Raises ModelError."""
    mode = node.text("mode", "nearest")
    if not axis.changes:
        return np.arange(axis.size_in, dtype=np.int32)[:, None], np.ones((axis.size_in, 1), np.float32)
    x = _coordinates(node, axis)
    indices, weights = _nearest(node, x, axis) if mode == "nearest" else _neighbours(node, mode, x, axis)
    weights[is_beyond(node, axis)] = 0
    return np.clip(indices, 0, axis.size_in - 1).astype(np.int32), weights


def is_beyond(node: OnnxNode, axis: Resampling) -> NDArray[np.bool_]:
    """Return which pixels, [size_out], lie outside of the input and become the extrapolation value."""
    if coordinate_mode(node) != BY_REGION or not axis.changes:
        return np.zeros(axis.size_out, np.bool_)
    x = _coordinates(node, axis)
    return (x < 0) | (x > axis.size_in - 1)


def coordinate_mode(node: OnnxNode) -> str:
    return "asymmetric" if is_old(node) else node.text("coordinate_transformation_mode", "half_pixel")


def is_old(node: OnnxNode) -> bool:
    """Return whether the node is of a form without the modes of operator set 11."""
    return node.kind == "Upsample" or node.opset < 11


def _coordinates(node: OnnxNode, axis: Resampling) -> Float32:
    """Return where each pixel of the output lies in the input, [size_out]. Raises ModelError for another mode."""
    mode = coordinate_mode(node)
    if mode not in COORDINATES:
        raise ModelError(f"attribute coordinate_transformation_mode is not supported as {mode}")
    return COORDINATES[mode](np.arange(axis.size_out, dtype=np.float32), axis)


def _half_pixel(y: Float32, axis: Resampling) -> Float32:
    return (y + HALF) / axis.scale - HALF


def _half_pixel_symmetric(y: Float32, axis: Resampling) -> Float32:
    size_in = np.float32(axis.size_in)
    offset = size_in / 2 * (1 - np.float32(axis.size_out) / (axis.scale * size_in))
    x = np.float64(offset) + (y + HALF).astype(np.float64) / np.float64(axis.scale) - 0.5
    return x.astype(np.float32)


def _of_region(y: Float32, axis: Resampling) -> Float32:
    first, last = axis.region
    reach = np.float32(axis.size_in - 1)
    if axis.size_out == 1:
        return np.full(1, 0.5 * np.float64(first + last) * np.float64(reach), np.float32)
    return first * reach + y * (last - first) * reach / np.float32(axis.size_out - 1)


COORDINATES: Mapping[str, Callable[[Float32, Resampling], Float32]] = {
    "align_corners": lambda y, axis: (
        y * np.float32(axis.size_in - 1) / np.float32(axis.size_out - 1) if axis.size_out > 1 else y
    ),
    "asymmetric": lambda y, axis: y / axis.scale,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": lambda y, axis: _half_pixel(y, axis) if axis.size_out > 1 else y,
    "tf_crop_and_resize": _of_region,
    "tf_half_pixel_for_nn": lambda y, axis: (y + HALF) / axis.scale,
}


def _nearest(node: OnnxNode, x: Float32, axis: Resampling) -> tuple[Float32, Float32]:
    """Return the nearest pixels, [size_out, 1], and weights of 1.

    Before operator set 11 it is the one before, or the one behind in a smaller image.
    """
    mode = node.text("nearest_mode", "round_prefer_floor")
    if is_old(node):
        mode = "ceil" if axis.scale < 1 else "floor"
    if mode not in NEAREST:
        raise ModelError(f"attribute nearest_mode is not supported as {mode}")
    return NEAREST[mode](x)[:, None], np.ones((axis.size_out, 1), np.float32)


def _rounded_pixels(x: Float32, *, up: bool) -> Float32:
    """Return x in whole numbers. What lies within 1e-6 of a half is one, as for onnxruntime."""
    below = np.floor(x)
    part = x.astype(np.float64) - below
    is_half = np.abs(part - 0.5) < HALF_WITHIN
    return np.where(is_half, below + up, np.rint(x))


NEAREST: Mapping[str, Callable[[Float32], Float32]] = {
    "round_prefer_floor": lambda x: _rounded_pixels(x, up=False),
    "round_prefer_ceil": lambda x: _rounded_pixels(x, up=True),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _neighbours(node: OnnxNode, mode: str, x: Float32, axis: Resampling) -> tuple[Float32, Float32]:
    """Return the pixels around each place, and their weights: not yet within the image."""
    first = np.floor(x)
    part = x - first
    taps = MODES[mode]
    weights = _cubic(part, node.real("cubic_coeff_a", -0.75)) if mode == "cubic" else np.stack([1 - part, part], 1)
    indices = first[:, None] + np.arange(taps, dtype=np.float32) - np.float32(taps // 2 - 1)
    if node.integer("exclude_outside", 0):
        weights = np.where((indices < 0) | (indices >= axis.size_in), np.float32(0), weights)
        with np.errstate(invalid="ignore"):  # far beyond a region nothing is left, and `table` writes zeros
            weights = weights / weights.sum(axis=1, keepdims=True)
    return indices, weights


def _cubic(part: Float32, a: float) -> Float32:
    """Return the weights of four neighbours, [pixels, 4], by cubic convolution (Keys, 1981)."""
    near = np.stack([part, 1 - part], axis=1).astype(np.float64)
    far = near + 1
    inner = ((a + 2) * near - (a + 3)) * near**2 + 1
    outer = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return np.stack([outer[:, 0], inner[:, 0], inner[:, 1], outer[:, 1]], axis=1).astype(np.float32)


def resized(size_in: int, scale: np.float32) -> int:
    """Return floor(size_in · scale), in float32 as onnxruntime: ONNX's shape inference may find a pixel less."""
    return math.floor(np.float32(size_in) * scale)


def rounded(size_in: int, scale: np.float32) -> int:
    """Return size_in · scale, in float32, to the nearest whole number; halves up."""
    return math.floor(float(np.float32(size_in) * scale) + 0.5)
