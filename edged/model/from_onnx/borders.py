"""Convert Slice and Pad: every n-th row, zeros around.

They are applied later, by the operator that reads the tensor.
"""

from dataclasses import replace

from edged.arithmetic import ceil_div
from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import Scope


def slice_(node: OnnxNode, scope: Scope) -> None:
    """Convert a Slice of every n-th row and column from the first to the last."""
    value = scope.bordered(node.input(0))
    if any(value.pads):
        value = scope.plain(node.input(0))
    dims, by_axis = list(value.shape), [1, *value.steps]
    for start, end, axis, step in zip(*_slice_arguments(node, scope), strict=True):
        place = axis % 4 - 1
        size = dims[place] if place >= 0 else 1
        if start not in {0, -size} or end < size or step < 1 or (step > 1 and place < 1):
            raise ModelError(
                f"takes {start}:{end}:{step} of axis {axis}; supported is every n-th row and column from the first"
            )
        if step > 1:
            dims[place] = ceil_div(size, step)
            by_axis[place] *= step
    scope.define(node.output, replace(value, shape=tuple(dims), steps=(by_axis[1], by_axis[2])))


def _slice_arguments(node: OnnxNode, scope: Scope) -> tuple[tuple[int, ...], ...]:
    if node.opset < 10:
        starts, ends = node.integers("starts") or (), node.integers("ends") or ()
        return starts, ends, node.integers("axes") or tuple(range(len(starts))), (1,) * len(starts)
    starts, ends = scope.integers(node.input(1)), scope.integers(node.input(2))
    axes = scope.integers(node.input(3)) if node.input(3) else tuple(range(len(starts)))
    steps = scope.integers(node.input(4)) if node.input(4) else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ModelError("needs as many starts as ends, axes and steps")
    return starts, ends, axes, steps


def pad(node: OnnxNode, scope: Scope) -> None:
    """Record zeros around the image, or before and after its channels."""
    _only_zeros(node, scope)
    value = scope.bordered(node.input(0))
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


def _only_zeros(node: OnnxNode, scope: Scope) -> None:
    mode = node.text("mode", "constant")
    constant = scope.constant(node.input(2)) if node.input(2) else None
    filler = node.real("value", 0.0) if constant is None else constant.any()
    if mode != "constant" or filler or (node.input(2) and constant is None):
        raise ModelError(f"pads in mode {mode}; supported is constant, with zeros")


def _pad_amounts(node: OnnxNode, scope: Scope) -> tuple[int, ...]:
    """Return the pads before each of the four axes, then after each."""
    given = scope.integers(node.input(1)) if node.input(1) else node.integers("pads") or ()
    axes = scope.integers(node.input(3)) if node.input(3) else (0, 1, 2, 3)
    if len(given) != 2 * len(axes):
        raise ModelError(f"has {len(given)} pads; supported are two for each of its axes {axes}")
    amounts = [0] * 8
    for i, axis in enumerate(axes):
        amounts[axis % 4], amounts[axis % 4 + 4] = given[i], given[i + len(axes)]
    return tuple(amounts)
