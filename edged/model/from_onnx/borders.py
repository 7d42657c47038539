"""Convert Slice and Pad: every n-th row, zeros around, and views of parts.

They are applied later, by the operator that reads the tensor; a Pad that repeats pixels is applied here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from edged.arithmetic import ceil_div
from edged.errors import ModelError
from edged.model.border import MODES, border
from edged.model.from_onnx.channels import select
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value
from edged.model.from_onnx.strided import ViewAxis
from edged.model.graph import Pads, Pair


def slice_(node: OnnxNode, scope: Scope) -> None:
    """Convert a Slice: of every n-th row and column from the first to the last, of channels, or to a view."""
    value = scope.raw_value(node.input(0))
    cuts = tuple(zip(*_slice_arguments(node, scope), strict=True))
    is_image = len(value.shape) == 3 and value.has_batch and value.strides is None
    if value.zero is not None or (is_image and all(_is_every_nth(value, *cut) for cut in cuts)):
        _every_nth(node, scope, cuts)
        return
    value = scope.floats(node.input(0))
    ranges = dict(_range(value, *cut) for cut in cuts)
    has_channels = len(value.shape) in {1, 3} and value.has_batch and value.strides is None
    if ranges.keys() == {1} and has_channels:
        select(scope, node.input(0), node.output, ranges[1])
    else:
        scope.define(node.output, sliced(scope, value, ranges))


def _is_every_nth(value: Value, start: int, end: int, axis: int, step: int) -> bool:
    own = axis % 4 - 1
    size = value.shape[own] if own >= 0 else 1
    return start in {0, -size} and end >= size and step >= 1 and (step == 1 or own >= 1)


def _every_nth(node: OnnxNode, scope: Scope, cuts: tuple[tuple[int, ...], ...]) -> None:
    value = scope.bordered(node.input(0))
    if any(value.pads):
        value = scope.plain(node.input(0))
    dims, by_axis = list(value.shape), [1, *value.steps]
    for start, end, axis, step in cuts:
        if not _is_every_nth(value, start, end, axis, step):
            raise ModelError(
                f"takes {start}:{end}:{step} of axis {axis}; supported is every n-th row and column from the first"
            )
        if step > 1:
            own = axis % 4 - 1
            dims[own] = ceil_div(dims[own], step)
            by_axis[own] *= step
    scope.define(node.output, replace(value, shape=tuple(dims), steps=(by_axis[1], by_axis[2])))


def _range(value: Value, start: int, end: int, axis: int, step: int) -> tuple[int, range]:
    """Return an axis, and the indices that are taken along it."""
    dims = value.dims
    if not -len(dims) <= axis < len(dims) or step == 0:
        raise InvalidNodeError(f"takes {start}:{end}:{step} of axis {axis}; the tensor has {len(dims)} axes")
    size = dims[axis]
    if step < 0 and not -size <= start:
        raise ModelError(f"begins at {start} of {size}, backwards")
    found = range(*slice(start, end, step).indices(size))
    if not found:
        raise InvalidNodeError(f"takes nothing, {start}:{end}:{step} of {size}")
    return axis % len(dims), found


def sliced(scope: Scope, value: Value, ranges: Mapping[int, range]) -> Value:
    """Return a view of a part of a tensor: the indices along each of some axes."""
    axes, offset = list(value.axes), value.offset
    for axis, indices in ranges.items():
        offset += axes[axis].stride * indices.start
        axes[axis] = ViewAxis(len(indices), axes[axis].stride * indices.step)
    return scope.view(value, tuple(axes), offset)


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
    """Record numbers around the image, or zeros before and after its channels; convert other modes."""
    amounts = _pad_amounts(node, scope)
    if amounts[0] or amounts[4] or min(amounts) < 0 or max(amounts) > 2**16:
        raise ModelError(f"pads by {amounts}; supported are channels, rows and columns, by 0 to 65536")
    mode = node.text("mode", "constant")
    if mode != "constant":
        _, before, top, left, _, after, bottom, right = amounts
        _mirror(node, scope, mode, (top, left, bottom, right), (before, after))
        return
    filler, value = _filler(node, scope), scope.raw_value(node.input(0))
    order = scope.image_axes(value) if value.strides is not None and value.dtype == "float32" else None
    if order is None or len(order) != 3 or not value.has_batch:
        padded = _padded(scope, scope.bordered(node.input(0)), amounts[1:4], amounts[5:], filler)
    else:
        padded = _padded_in_graph(scope, value, order, amounts, filler)
    scope.define(node.output, padded)


def _padded(scope: Scope, value: Value, before: Sequence[int], after: Sequence[int], filler: float) -> Value:
    """Return an image with these pads of channels, rows and columns, which its reader applies."""
    if filler and (before[0] or after[0]):
        raise ModelError(f"pads channels by {filler:g}; supported are zeros")
    has_others = filler != value.filler and any((*value.channel_pads, *value.pads))
    if has_others or (any((*before[1:], *after[1:])) and value.steps != (1, 1)):
        value = scope.applied(value)
    around = tuple(a + b for a, b in zip(value.pads, (*before[1:], *after[1:]), strict=True))
    return replace(
        value,
        shape=tuple(sum(sizes) for sizes in zip(value.shape, before, after, strict=True)),
        channel_pads=(value.channel_pads[0] + before[0], value.channel_pads[1] + after[0]),
        pads=(around[0], around[1], around[2], around[3]),
        filler=filler,
    )


def _padded_in_graph(
    scope: Scope, value: Value, order: Sequence[int], amounts: Sequence[int], filler: float
) -> Value:
    """Return a view of an image that is padded as the graph has it. order: which axis of the image each one is."""
    before, after = ([amounts[first + order.index(axis)] for axis in range(3)] for first in (1, 5))
    image = Value(value.tensor, scope.shapes[value.tensor])
    padded = scope.applied(_padded(scope, image, before, after, filler))
    batch, *axes = padded.axes
    return scope.view(padded, (batch, *(axes[axis] for axis in order)))


def _mirror(node: OnnxNode, scope: Scope, mode: str, pads: Pads, of_channels: Pair) -> None:
    """Convert a Pad that repeats pixels of its image."""
    image = scope.image(node.input(0))
    if mode not in MODES or any(of_channels):
        raise ModelError(f"pads in mode {mode}; supported are {', '.join(MODES)}, the last three for pixels")
    scope.push(border(node.output, image, scope.shapes[image], pads, mode))


def _filler(node: OnnxNode, scope: Scope) -> float:
    """Return the number of the pixels around."""
    constant = scope.constant(node.input(2)) if node.input(2) else None
    if node.input(2) and (constant is None or constant.size != 1):
        raise ModelError("pads by a computed number; supported is a constant")
    return node.real("value", 0.0) if constant is None else float(constant.reshape(-1)[0].item())


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
