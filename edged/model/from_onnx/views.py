"""Nodes that compute nothing: another shape, every n-th row, zeros around; the next operator sees to it."""

import math
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import Node, type_name
from edged.model.from_onnx.scope import Scope, Value
from edged.model.graph import Shape


def identity(node: Node, scope: Scope) -> None:
    """Identity and Dropout."""
    training = scope.constant(node.input(2)) if node.input(2) else None
    if training is not None and training.any():
        raise ModelError("is in training mode; supported is inference")
    scope.define(node.output, scope.raw_value(node.input(0)))


def cast(node: Node, scope: Scope) -> None:
    """Between kinds of float only: everything is computed in float32."""
    target = type_name(node.integer("to", 0))
    if target not in {"FLOAT", "FLOAT16", "DOUBLE"}:
        raise ModelError(f"casts to {target}; supported are FLOAT, FLOAT16 and DOUBLE")
    scope.define(node.output, scope.value(node.input(0)))


def shape(node: Node, scope: Scope) -> None:
    """As of a batch of one; the batch is never mixed with the rest (see `reshape`)."""
    dims = np.array((1, *scope.value(node.input(0)).shape), np.int64)
    scope.define(node.output, dims[node.integer("start", 0) : node.integer("end", len(dims))])


def flatten(node: Node, scope: Scope) -> None:
    value = scope.plain(node.input(0))
    if node.integer("axis", 1) % (len(value.shape) + 2) != 1:
        raise ModelError("attribute axis is supported only as 1")
    _see(node, scope, (math.prod(value.shape),))


def reshape(node: Node, scope: Scope) -> None:
    """To a constant shape whose first number is the batch: 0, −1 or 1."""
    old = (1, *scope.plain(node.input(0)).shape)
    wanted = list(scope.integers(node.input(1)))
    if not node.integer("allowzero", 0):
        wanted = [old[i] if number == 0 and i < len(old) else number for i, number in enumerate(wanted)]
    rest = math.prod(number for number in wanted if number != -1)
    if wanted.count(-1) == 1 and rest > 0 and math.prod(old) % rest == 0:
        wanted[wanted.index(-1)] = math.prod(old) // rest
    if not wanted or wanted[0] != 1 or any(number < 1 for number in wanted) or math.prod(wanted) != math.prod(old):
        raise ModelError(f"has the shape {wanted} for a tensor of shape {old}; supported is one batch by itself")
    _see(node, scope, tuple(wanted[1:]))


def squeeze(node: Node, scope: Scope) -> None:
    dims = scope.plain(node.input(0)).shape
    axes = _axes(node, scope, len(dims) + 1)
    if axes is None:
        axes = {axis + 1 for axis, size in enumerate(dims) if size == 1}
    if 0 in axes or any(dims[axis - 1] != 1 for axis in axes):
        raise ModelError(f"takes the axes {sorted(axes)} away from (batch, {dims}); supported are axes of size 1")
    _see(node, scope, tuple(size for axis, size in enumerate(dims, start=1) if axis not in axes))


def unsqueeze(node: Node, scope: Scope) -> None:
    dims = list(scope.plain(node.input(0)).shape)
    axes = _axes(node, scope, len(dims) + 2)
    if axes is None or 0 in axes:
        raise ModelError("needs axes, and none before the batch")
    for axis in sorted(axes):
        dims.insert(axis - 1, 1)
    _see(node, scope, tuple(dims))


def transpose(node: Node, scope: Scope) -> None:
    """Of the network's input from (height, width, channels), as TensorFlow has it: the graph's is never so."""
    value = scope.raw_value(node.input(0))
    order = node.integers("perm")
    if order == (0, 3, 1, 2) and value.channels_last:
        scope.define(node.output, Value(value.tensor, scope.shapes[value.tensor]))
    elif order == tuple(range(len(value.shape) + 1)):
        scope.define(node.output, value)
    else:
        raise ModelError(f"moves axes by {order}; supported is (0, 3, 1, 2) of the network's input")


def slice_(node: Node, scope: Scope) -> None:
    """Every n-th row and column from the first, to the last."""
    value = scope.value(node.input(0))
    if any(value.pads):
        value = scope.plain(node.input(0))
    starts, ends, axes, steps = _slice_arguments(node, scope)
    dims, by_axis = list(value.shape), [1, *value.steps]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        place = axis % (len(dims) + 1) - 1
        size = dims[place] if place >= 0 else 1
        whole = start in {0, -size} and end >= size and step >= 1
        if not whole or (step > 1 and not (len(dims) == 3 and place > 0)):
            raise ModelError(
                f"takes {start}:{end}:{step} of axis {axis}; supported is every n-th row and column from the first"
            )
        if step > 1:
            dims[place] = -(-size // step)
            by_axis[place] *= step
    scope.define(node.output, replace(value, shape=tuple(dims), steps=(by_axis[1], by_axis[2])))


def _slice_arguments(node: Node, scope: Scope) -> tuple[tuple[int, ...], ...]:
    if node.opset < 10:
        starts, ends = node.integers("starts") or (), node.integers("ends") or ()
        return starts, ends, node.integers("axes") or tuple(range(len(starts))), (1,) * len(starts)
    starts, ends = scope.integers(node.input(1)), scope.integers(node.input(2))
    axes = scope.integers(node.input(3)) if node.input(3) else tuple(range(len(starts)))
    steps = scope.integers(node.input(4)) if node.input(4) else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ModelError("needs as many starts as ends, axes and steps")
    return starts, ends, axes, steps


def pad(node: Node, scope: Scope) -> None:
    """Zeros around the image, or before and after its channels."""
    _only_zeros(node, scope)
    value = scope.value(node.input(0))
    if len(value.shape) != 3:
        raise ModelError(f"pads a tensor of shape {value.shape}; supported is (channels, height, width)")
    amounts = _pad_amounts(node, scope)
    if amounts[0] or amounts[4] or min(amounts) < 0 or max(amounts) > 2**16:
        raise ModelError(f"pads by {amounts}; supported are channels, rows and columns, by 0 to 65536")
    _, before, top, left, _, after, bottom, right = amounts
    if any((top, left, bottom, right)) and value.steps != (1, 1):
        value = scope.plain(node.input(0))
    around = tuple(a + b for a, b in zip(value.pads, (top, left, bottom, right), strict=True))
    channels, height, width = value.shape
    scope.define(
        node.output,
        replace(
            value,
            shape=(channels + before + after, height + top + bottom, width + left + right),
            channel_pads=(value.channel_pads[0] + before, value.channel_pads[1] + after),
            pads=(around[0], around[1], around[2], around[3]),
        ),
    )


def _only_zeros(node: Node, scope: Scope) -> None:
    mode = node.text("mode", "constant")
    constant = scope.constant(node.input(2)) if node.input(2) else None
    filler = node.real("value", 0.0) if constant is None else constant.any()
    if mode != "constant" or filler or (node.input(2) and constant is None):
        raise ModelError(f"pads in mode {mode}; supported is constant, with zeros")


def _pad_amounts(node: Node, scope: Scope) -> tuple[int, ...]:
    """Before each of the four axes, then after each."""
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("pads") or ()
    axes = scope.integers(node.input(3)) if node.input(3) else (0, 1, 2, 3)
    if len(given) != 2 * len(axes):
        raise ModelError(f"has {len(given)} pads; supported are two for each of its axes {axes}")
    amounts = [0] * 8
    for i, axis in enumerate(axes):
        amounts[axis % 4], amounts[axis % 4 + 4] = given[i], given[i + len(axes)]
    return tuple(amounts)


def _axes(node: Node, scope: Scope, rank: int) -> set[int] | None:
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("axes")
    if given is None:
        return None
    if not all(-rank <= axis < rank for axis in given):
        raise ModelError(f"has the axes {given} of {rank}")
    return {axis % rank for axis in given}


def _see(node: Node, scope: Scope, dims: Shape) -> None:
    scope.define(node.output, replace(scope.plain(node.input(0)), shape=dims))
