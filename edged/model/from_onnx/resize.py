"""Convert Resize and Upsample: along each axis, each pixel is a sum of a few of the input's.

Two axes at a time are resized as rows and columns of an image.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.resampling import (
    BY_REGION,
    MODES,
    Resampling,
    coordinate_mode,
    is_beyond,
    is_old,
    resized,
    rounded,
    table,
)
from edged.model.from_onnx.scope import HostOnlyError, InvalidNodeError, Scope, Value
from edged.model.from_onnx.strided import contiguous, sizes_of
from edged.model.graph import Combine, Float32, Interpolate, Pair, Shape
from edged.model.shapes import MAX_VALUES

ATTRIBUTES = (
    *("antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside"),
    *("extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"),
)
ONE = np.float32(1)


def resize(node: OnnxNode, scope: Scope) -> None:
    """Convert Resize, and Upsample, its first form."""
    mode = node.text("mode", "nearest")
    value = scope.view_of(node.input(0)) if mode == "nearest" else scope.floats(node.input(0))
    if value.zero is not None:
        raise HostOnlyError(f"input {node.input(0)} is quantized; supported are integers as they are")
    if mode not in MODES or node.integer("antialias", 0):
        raise ModelError(f"resizes by {mode}; supported are nearest, linear and cubic, without antialias")
    axes = resamplings(node, scope, value.dims)
    sizes = tuple(axis.size_out for axis in axes)
    if not 0 < math.prod(sizes) <= MAX_VALUES:
        limit = f"it may hold 1 to {MAX_VALUES} values: export the network for a smaller input"
        raise InvalidNodeError(f"would write a tensor of shape {sizes[value.has_batch :]}; {limit}")
    if sizes == value.dims:
        scope.define(node.output, value)
    elif value.has_batch and axes[0].changes:
        raise ModelError("resizes the batch; supported are axes of one frame")
    else:
        _by_pairs(node, scope, value, axes)


def scales_for_float64(node: OnnxNode, scope: Scope, dims: Shape) -> dict[str, Float32]:
    """Return the scales by their name, so large that float64 makes the sizes that they make in float32.

    The package `onnx` computes in float64.
    """
    factors = _factors(node, scope)
    name = node.input(1 if is_old(node) else 2)
    if not name or factors is None or not factors.size:
        return {}
    axes = _given_axes(node, dims)
    scales = _one_for_each(factors.reshape(-1), axes).copy()
    _require_positive(node, scales)
    for number, index in enumerate(axes):
        while math.floor(dims[index] * float(scales[number])) < resized(dims[index], scales[number]):
            scales[number] = np.nextafter(scales[number], np.float32(np.inf))
    return {name: scales}


def resamplings(node: OnnxNode, scope: Scope, dims: Shape) -> tuple[Resampling, ...]:
    """Return what becomes of each axis of a tensor with the shape `dims`. Raises ModelError."""
    axes = _given_axes(node, dims)
    factors = _factors(node, scope)
    if factors is not None and factors.size:
        scales = np.ones(len(dims), np.float32)
        scales[list(axes)] = _one_for_each(factors.reshape(-1), axes)
        _require_positive(node, scales)
        found = [Resampling(size, resized(size, scale), scale) for size, scale in zip(dims, scales, strict=True)]
    else:
        found = _of_sizes(node, scope, dims, axes)
    if coordinate_mode(node) != BY_REGION:
        return tuple(found)
    regions = _regions(node, scope, axes)
    return tuple(replace(axis, region=regions.get(index, axis.region)) for index, axis in enumerate(found))


def _given_axes(node: OnnxNode, dims: Shape) -> tuple[int, ...]:
    """Return the axes that the node gives scales or sizes for."""
    return tuple(axis % len(dims) for axis in node.integers("axes") or range(len(dims)))


def _factors(node: OnnxNode, scope: Scope) -> Float32 | None:
    """Return the scales; None where sizes are given in their place."""
    name = node.input(1 if is_old(node) else 2)
    if name:
        factors = scope.constant(name)
        if factors is None:
            raise HostOnlyError(f"input {name} decides the size of the output; supported is a constant")
        return factors.astype(np.float32)
    return np.array(node.reals("scales"), np.float32) if node.kind == "Upsample" else None


def _one_for_each(numbers: Float32, axes: Sequence[int]) -> Float32:
    if len(numbers) != len(axes):
        raise InvalidNodeError(f"has {len(numbers)} scales or sizes for {len(axes)} axes")
    return numbers


def _require_positive(node: OnnxNode, scales: Float32) -> None:
    """Raise ModelError for scales that make no image; those of Upsample may only enlarge."""
    least = 1.0 if node.kind == "Upsample" else 0.0
    if not (np.isfinite(scales) & (scales >= least) & (scales > 0) & (scales <= MAX_VALUES)).all():
        raise InvalidNodeError(
            f"has the scales {scales.tolist()}; expected numbers {f'of {least:g} or more' if least else 'above 0'}"
        )


def _of_sizes(node: OnnxNode, scope: Scope, dims: Shape, axes: Sequence[int]) -> list[Resampling]:
    """Return what becomes of each axis where the file gives sizes, perhaps to keep the ratio of the sides."""
    sizes = list(dims)
    given = np.array(scope.integers(node.input(3)))
    for index, size in zip(axes, _one_for_each(given, axes).tolist(), strict=True):
        sizes[index] = size
    if not 0 < min(sizes) <= max(sizes) <= MAX_VALUES:
        raise InvalidNodeError(f"makes {dims} into {tuple(sizes)}; expected sizes of 1 to {MAX_VALUES}")
    scales = [np.float32(size) / np.float32(old) for size, old in zip(sizes, dims, strict=True)]
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return [Resampling(*each) for each in zip(dims, sizes, scales, strict=True)]
    if policy not in {"not_larger", "not_smaller"}:
        raise InvalidNodeError(f"attribute keep_aspect_ratio_policy is not supported as {policy}")
    of_axes = [scales[index] for index in axes]
    scale = min(of_axes) if policy == "not_larger" else max(of_axes)
    return [
        Resampling(old, rounded(old, scale), scale) if index in axes else Resampling(old, old, ONE)
        for index, old in enumerate(dims)
    ]


def _regions(node: OnnxNode, scope: Scope, axes: Sequence[int]) -> dict[int, tuple[np.float32, np.float32]]:
    """Return the first and the last place of the region by axis: the input lists all first ones, then the last."""
    bounds = scope.weights(node.input(1)).reshape(-1) if node.input(1) else np.zeros(0, np.float32)
    if not bounds.size:
        return {}
    if bounds.size != 2 * len(axes):
        raise InvalidNodeError(f"has a region of {bounds.size} numbers; expected two for each of {len(axes)} axes")
    return dict(zip(axes, zip(bounds[: len(axes)], bounds[len(axes) :], strict=True), strict=True))


def _by_pairs(node: OnnxNode, scope: Scope, value: Value, axes: Sequence[Resampling]) -> None:
    """Push an operator for each two axes that change, the last ones first."""
    if len(axes) < 2:
        raise ModelError(f"resizes a tensor of shape {value.dims}; supported are two axes or more")
    changing = [index for index, axis in enumerate(axes) if axis.changes]
    pairs = [changing[max(0, end - 2) : end] for end in range(len(changing), 0, -2)]
    filler = node.real("extrapolation_value", 0.0)
    fills = coordinate_mode(node) == BY_REGION and filler != 0
    if fills and len(pairs) > 1:
        raise ModelError("fills what lies beyond three axes; supported are two")
    left = list(axes)
    for number, pair in enumerate(pairs):
        is_last = number == len(pairs) - 1 and not fills
        name = node.output if is_last else f"{node.output}/{number}"
        first, second = pair if len(pair) == 2 else _with_neighbour(pair[0], len(axes))
        value = _as_image(node, scope, value, left, (first, second), name)
        left = [
            replace(axis, size_in=axis.size_out, scale=ONE) if index in pair else axis
            for index, axis in enumerate(left)
        ]
    if fills:
        rows, columns = (is_beyond(node, axes[index]) for index in (first, second))
        constant = np.float32(filler) * (rows[:, None] | columns)[None]
        scope.add(Combine(node.output, (value.tensor,), node.output, "add", constant))
        value = replace(value, tensor=node.output)
    scope.define(node.output, value)


def _with_neighbour(index: int, rank: int) -> Pair:
    return (index, index + 1) if index + 1 < rank else (index - 1, index)


def _as_image(
    node: OnnxNode, scope: Scope, value: Value, axes: Sequence[Resampling], pair: Pair, name: str
) -> Value:
    """Push an image with two axes as rows and columns, and return a view with the axes in their old order."""
    order = [*(index for index in range(len(axes)) if index not in pair), *pair]
    seen = tuple(value.axes[index] for index in order)
    tensor = scope.rearranged(value, seen, (math.prod(sizes_of(seen[:-2])), seen[-2].size, seen[-1].size))
    (rows, row_weights), (columns, column_weights) = (table(node, axes[index]) for index in pair)
    scope.add(Interpolate(name, (tensor,), name, rows, row_weights, columns, column_weights))
    shape = (*sizes_of(seen[:-2]), len(rows), len(columns))
    written = contiguous(shape)
    return scope.view(
        Value(name, shape, dtype=value.dtype), tuple(written[order.index(index)] for index in range(len(order)))
    )
