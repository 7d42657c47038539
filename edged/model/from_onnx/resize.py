"""Convert Resize and Upsample of rows and columns: each pixel is a sum of a few of the input's.

Formulas are those of the ONNX operator specification (https://onnx.ai/onnx/operators/onnx__Resize.html).
"""

import math

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import Scope
from edged.model.graph import Interpolate
from edged.model.shapes import MAX_VALUES

Float64 = NDArray[np.float64]
MODES = {"nearest": 1, "linear": 2, "cubic": 4}  # with the number of pixels that each takes along an axis
RANK = 4
ATTRIBUTES = (
    *("antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside"),
    *("extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"),
)


def resize(node: OnnxNode, scope: Scope) -> None:
    """Convert Resize, and Upsample, its first form."""
    image = scope.image(node.input(0))
    channels, *sides = scope.shapes[image]
    mode = node.text("mode", "nearest")
    if mode not in MODES or node.integer("antialias", 0) or node.integer("exclude_outside", 0):
        raise ModelError(f"resizes by {mode}; supported are nearest, linear and cubic, without antialias")
    sizes, scales = _sizes_and_scales(node, scope, channels, sides)
    if not all(0 < size <= MAX_VALUES for size in sizes):
        raise ModelError(f"makes an image of {sizes} pixels; expected 1 or more")
    tables = [_table(node, mode, *each) for each in zip(sides, sizes, scales, strict=True)]
    (rows, row_weights), (columns, column_weights) = tables
    scope.push(Interpolate(node.output, (image,), node.output, rows, row_weights, columns, column_weights))


def _sizes_and_scales(
    node: OnnxNode, scope: Scope, channels: int, sides: list[int]
) -> tuple[list[int], list[float]]:
    """Return the rows and columns of the output, and the scales by which the coordinates are computed."""
    axes = [axis % RANK for axis in node.integers("axes") or range(RANK)]
    is_old = node.kind == "Upsample" or node.opset < 11
    factors = scope.constant(node.input(1 if is_old else 2)) if node.input(1 if is_old else 2) else None
    if factors is None and node.kind == "Upsample":
        factors = np.array(node.reals("scales"), np.float32)
    if factors is not None and factors.size:
        by_axis = dict(zip(axes, map(float, factors.astype(np.float64).reshape(-1)), strict=True))
        scales = [by_axis.get(axis, 1.0) for axis in (2, 3)]
        sizes = [math.floor(side * scale) for side, scale in zip(sides, scales, strict=True)]
    else:
        if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise ModelError("keeps the ratio of the sides; supported is keep_aspect_ratio_policy stretch")
        by_axis = dict(zip(axes, map(float, scope.integers(node.input(3))), strict=True))
        sizes = [int(by_axis.get(axis, side)) for axis, side in zip((2, 3), sides, strict=True)]
        scales = [size / side for size, side in zip(sizes, sides, strict=True)]
        by_axis = {1: by_axis.get(1, channels) / channels, 0: by_axis.get(0, 1.0)}
    if any(by_axis.get(axis, 1.0) != 1.0 for axis in (0, 1)):
        raise ModelError("resizes the batch or the channels; supported are rows and columns")
    return sizes, scales


def _table(
    node: OnnxNode, mode: str, side: int, size: int, scale: float
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return places and weights, each [size, taps], for `size` pixels along a side of `side` ones."""
    x = _coordinates(node, side, size, scale)
    if mode == "nearest":
        return np.clip(_nearest(node, x), 0, side - 1).astype(np.int32)[:, None], np.ones((size, 1), np.float32)
    first = np.floor(x)
    part = x - first
    if mode == "linear":
        weights = np.stack([1 - part, part], axis=1)
    else:
        weights = _cubic(part, node.real("cubic_coeff_a", -0.75))
    taps = MODES[mode]
    places = first[:, None] + np.arange(taps) - (taps // 2 - 1)
    return np.clip(places, 0, side - 1).astype(np.int32), weights.astype(np.float32)


def _coordinates(node: OnnxNode, side: int, size: int, scale: float) -> Float64:
    """Return where each pixel of the output lies in the input. Raises ModelError for another mode."""
    is_old = node.kind == "Upsample" or node.opset < 11
    mode = "asymmetric" if is_old else node.text("coordinate_transformation_mode", "half_pixel")
    y = np.arange(size, dtype=np.float64)
    match mode:
        case "half_pixel":
            return (y + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            return side / 2 * (1 - size / (scale * side)) + (y + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (y + 0.5) / scale - 0.5 if size > 1 else np.zeros(size)
        case "align_corners" if not math.isclose(size, scale * side, rel_tol=1e-6):
            raise ModelError("aligns the corners of an image whose sides are not whole numbers of pixels")
        case "align_corners":
            return y * (side - 1) / (size - 1) if size > 1 else np.zeros(size)
        case "asymmetric":
            return y / scale
        case _:
            raise ModelError(f"attribute coordinate_transformation_mode is not supported as {mode}")


def _nearest(node: OnnxNode, x: Float64) -> Float64:
    is_old = node.kind == "Upsample" or node.opset < 11
    mode = "floor" if is_old else node.text("nearest_mode", "round_prefer_floor")
    match mode:
        case "round_prefer_floor":
            return np.ceil(x - 0.5)
        case "round_prefer_ceil":
            return np.floor(x + 0.5)
        case "floor":
            return np.floor(x)
        case "ceil":
            return np.ceil(x)
        case _:
            raise ModelError(f"attribute nearest_mode is not supported as {mode}")


def _cubic(part: Float64, a: float) -> Float64:
    """Return the weights of four neighbours, [pixels, 4], by cubic convolution (Keys, 1981)."""
    near = np.stack([part, 1 - part], axis=1)
    far = near + 1
    inner = ((a + 2) * near - (a + 3)) * near**2 + 1
    outer = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return np.stack([outer[:, 0], inner[:, 0], inner[:, 1], outer[:, 1]], axis=1)
