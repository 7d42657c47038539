"""Arithmetic of two computed tensors, or of one and a constant that is not one number for each channel."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model import onnx_names
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value
from edged.model.from_onnx.strided import ViewAxis, joined, sizes_of, widened
from edged.model.graph import Add, Combine, Float32, Shape
from edged.model.shapes import CONTRADICTION

KINDS: Mapping[str, str] = {**onnx_names.COMBINATIONS, "Sum": "add"}


def combine(node: OnnxNode, scope: Scope) -> None:
    """Convert a kind of node that is in `KINDS`: of several inputs, the first two, then with the next."""
    if node.kind in {"Max", "Min", "Sum"} and len(node.inputs) == 1:
        scope.define(node.output, scope.floats(node.input(0)))
        return
    if len(node.inputs) != 2:
        raise ModelError(f"has {len(node.inputs)} inputs; supported are 2")
    computed = [name for name in node.inputs if scope.constant(name) is None]
    if len(computed) == 2:
        _combine_computed(node, scope)
    else:
        _combine_with_constant(node, scope, computed[0])


def _combine_computed(node: OnnxNode, scope: Scope) -> None:
    values = [scope.floats(name) for name in node.inputs]
    first = values[0]
    is_alike = len({(value.dims, value.strides, scope.shapes[value.tensor]) for value in values}) == 1
    if is_alike and scope.is_whole(first):  # whatever their axes
        _push(node, scope, [value.tensor for value in values])
        scope.define(node.output, replace(first, tensor=node.output))
    elif _are_plain(values):
        read = scope.image if len(first.shape) == 3 else scope.features
        _push(node, scope, [read(name) for name in node.inputs])
        scope.define(node.output, Value(node.output, scope.shapes[node.output]))
    else:
        _combine_views(node, scope, values)


def _are_plain(values: Sequence[Value]) -> bool:
    """Return whether all are images, or all features, in their order."""
    ranks = {len(value.shape) for value in values}
    return ranks in ({1}, {3}) and all(value.strides is None and value.has_batch for value in values)


def _push(node: OnnxNode, scope: Scope, tensors: Sequence[str]) -> None:
    kind, inputs = KINDS[node.kind], (tensors[0], tensors[1])
    if kind == "add" and scope.shapes[inputs[0]] == scope.shapes[inputs[1]]:
        scope.add(Add(node.output, inputs, node.output))
    else:
        scope.add(Combine(node.output, inputs, node.output, kind))


def _combine_views(node: OnnxNode, scope: Scope, values: Sequence[Value]) -> None:
    """Combine values that broadcast, both with their last axes as channels."""
    rank = max(len(value.dims) for value in values)
    axes = [(*(ViewAxis(1, 0) for _ in range(rank - len(value.axes))), *value.axes) for value in values]
    dims = _broadcast([sizes_of(each) for each in axes])
    first = 1 if rank > 1 and dims[0] == 1 else 0
    frames = [each[first:] for each in axes]
    rows = {sizes_of(frame[:-2]) for frame in frames}
    if len(rows) > 1 and all(math.prod(each) > 1 for each in rows):  # a kernel repeats a single row alone
        frames = [(*widened(frame[:-2], dims[first:-2]), *frame[-2:]) for frame in frames]
    _push(
        node,
        scope,
        [
            scope.rearranged(value, (frame[-1], *frame[:-1]), joined(sizes_of(frame)))
            for value, frame in zip(values, frames, strict=True)
        ],
    )
    scope.define(node.output, scope.seen_joined(node.output, dims))


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InvalidNodeError(
            f"combines the shapes {shapes[0]} and {shapes[1]}, which do not broadcast: {CONTRADICTION}"
        ) from None


def _combine_with_constant(node: OnnxNode, scope: Scope, computed: str) -> None:
    (constant,) = (scope.weights(name) for name in node.inputs if name != computed)
    is_reversed = node.inputs[0] != computed
    value = scope.floats(computed)
    constant = scope.of_one_frame(constant, value)
    _broadcast([value.dims, constant.shape])
    if (new := constant.ndim - len(value.dims)) > 0:  # the result has as many axes as the constant
        value = scope.view(value, (*(ViewAxis(1, 0) for _ in range(new)), *value.axes))
    kind = KINDS[node.kind]
    if _are_plain([value]):
        tensor = scope.image(computed) if len(value.shape) == 3 else scope.features(computed)
        constant = _of_one_frame(constant, value.dims)
        scope.push(Combine(node.output, (tensor,), node.output, kind, constant, is_reversed))
    else:
        wide = _joined(
            _of_one_frame(constant, value.dims) if value.has_batch else _as_wide(constant, value.dims), value
        )
        tensor = scope.joined(value)
        scope.push_joined(Combine(node.output, (tensor,), node.output, kind, wide, is_reversed), value.dims)


def _of_one_frame(constant: Float32, dims: Shape) -> Float32:
    """Return a constant that broadcasts to (batch, …) with as many axes as a frame has."""
    wide = _as_wide(constant, dims)
    if wide.shape[0] != 1:
        raise ModelError(
            f"has a constant of shape {constant.shape}; supported is one that is the same for each frame"
        )
    return np.ascontiguousarray(wide[0])


def _as_wide(constant: Float32, dims: Shape) -> Float32:
    """Return a constant with as many axes as `dims`, of their size or 1."""
    wide = constant.reshape((1,) * (len(dims) - constant.ndim) + constant.shape)
    if wide.ndim != len(dims) or any(mine not in (1, size) for mine, size in zip(wide.shape, dims, strict=True)):
        raise ModelError(f"has a constant of shape {constant.shape}; supported is one that fits into {dims}")
    return wide


def _joined(constant: Float32, value: Value) -> Float32:
    """Return a constant for a tensor with the last axis of `value` as channels: see `Scope.joined`."""
    *before, channels = constant.shape or (1,)
    rows = tuple(value.shape[: max(0, len(value.shape) - 2)])
    if before[:-1] and math.prod(before[:-1]) > 1:
        constant = np.broadcast_to(constant, (*rows, *constant.shape[-2:]))
        before = list(constant.shape[:-1])
    first = np.moveaxis(constant.reshape((*before, channels)), -1, 0)
    return np.ascontiguousarray(first.reshape(joined((*before, channels))))
