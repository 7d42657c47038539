"""Concat, Split, Gather, channel shuffle and LRN: nodes that join, pick or compare channels."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value
from edged.model.from_onnx.strided import ViewAxis, joined
from edged.model.graph import Concat, Float32, Join, LocalResponseNorm, SelectChannels, Shape


def concat(node: OnnxNode, scope: Scope) -> None:
    """Convert a Concat of images by channel, of features, or along another axis."""
    node = _without_empty(node, scope)
    if len(node.inputs) == 1:
        scope.define(node.output, scope.view_of(node.input(0)))
        return
    names = [name for name in node.inputs if scope.constant(name) is None]
    values = [scope.raw_value(name) for name in names]
    rank = len(values[0].dims)
    axis = node.integer("axis", 1)
    if not -rank <= axis < rank:
        raise InvalidNodeError(f"joins along axis {axis} of {rank}")
    axis %= rank
    has_channels = rank in {2, 4} and axis == 1 and all(value.has_batch for value in values)
    if has_channels and len(names) == len(node.inputs):
        read = scope.image if rank == 4 else scope.features
        scope.push(Concat(node.output, tuple(map(read, node.inputs)), node.output))
    else:
        _join(node, scope, axis, rank)


def _without_empty(node: OnnxNode, scope: Scope) -> OnnxNode:
    """Return the node without its constants of no values that fit between the other inputs."""
    dims = next((value.dims for name in node.inputs if (value := scope.known(name))), ())
    axis = node.integer("axis", 1)
    if not -len(dims) <= axis < len(dims):
        return node
    axis %= len(dims)
    empty = (*dims[:axis], 0, *dims[axis + 1 :])

    def adds_nothing(name: str) -> bool:
        constant = scope.constant(name)
        return constant is not None and constant.shape == empty

    return replace(node, inputs=tuple(name for name in node.inputs if not adds_nothing(name)))


def _join(node: OnnxNode, scope: Scope, axis: int, rank: int) -> None:
    """Join along an axis other than the channels, where parts may be constant if it is not the last one."""
    along = max(0, rank - 2) if axis < rank - 1 else rank - 1  # the axis as the graph has it: columns or channels
    order = [index for index in range(rank) if index != axis]
    order.insert(along, axis)
    back = tuple(order.index(index) for index in range(rank))
    beside = next(scope.raw_value(name) for name in node.inputs if scope.constant(name) is None)
    parts = [_turned(scope, name, order, beside) for name in node.inputs]
    shapes = [part.dims if isinstance(part, Value) else part.shape for part in parts]
    rests = {(*shape[:along], *shape[along + 1 :]) for shape in shapes}
    if len(rests) != 1 or (axis == 0 and any(part.has_batch for part in parts if isinstance(part, Value))):
        raise ModelError(f"joins tensors of the shapes {shapes} along axis {axis}; supported are equal ones")
    dims = (*shapes[0][:along], sum(shape[along] for shape in shapes), *shapes[0][along + 1 :])
    parts = _with_neighbours_joined(parts, along)
    images = [scope.joined(part) if isinstance(part, Value) else _as_image(part) for part in parts]
    tensors = tuple(part for part in images if isinstance(part, str))
    if along == rank - 1 and len(tensors) == len(parts):
        scope.add(Concat(node.output, tensors, node.output))
    elif along == rank - 2 and len(joined(_frame(dims))) == 3:
        _join_columns(node.output, images, scope)
    else:
        constants = len(parts) - len(tensors)
        raise ModelError(
            f"joins {constants} constants along axis {axis} of {rank}; supported are none as channels"
        )
    seen = scope.seen_joined(node.output, dims)
    scope.define(node.output, scope.view(seen, tuple(seen.axes[index] for index in back), seen.offset))


def _join_columns(output: str, parts: Sequence[str | Float32], scope: Scope) -> None:
    """Join images side by side, of which no two constant ones are neighbours: by an operator for each constant."""
    constants = [index for index, part in enumerate(parts) if not isinstance(part, str)]
    if len(constants) > 1:
        before = parts[: constants[-1]]
        first = f"{output}/first{len(before)}"
        _join_columns(first, before, scope)
        parts = [first, *parts[constants[-1] :]]
    index, constant = next(
        ((index, part) for index, part in enumerate(parts) if not isinstance(part, str)), (0, None)
    )
    tensors = tuple(part for part in parts if isinstance(part, str))
    scope.add(Join(output, tensors, output, 2, constant, index))


def _with_neighbours_joined(parts: Sequence[Value | Float32], axis: int) -> list[Value | Float32]:
    """Return the parts with one constant in place of several that follow each other."""
    found: list[Value | Float32] = []
    for part in parts:
        if found and not isinstance(part, Value) and not isinstance(found[-1], Value):
            found[-1] = np.concatenate([found[-1], part], axis)
        else:
            found.append(part)
    return found


def _turned(scope: Scope, name: str, order: Sequence[int], beside: Value) -> Value | Float32:
    """Return a tensor with its axes in another order: a view, or a constant `beside` a computed tensor."""
    if scope.constant(name) is not None:
        constant = scope.of_one_frame(scope.weights(name), beside)
        if constant.ndim != len(order):
            raise InvalidNodeError(f"joins a constant of shape {constant.shape} with tensors of {len(order)} axes")
        return constant.transpose(order)
    value = scope.floats(name)
    if len(value.dims) != len(order):
        raise InvalidNodeError(f"joins a tensor of shape {value.dims} with others of {len(order)} axes")
    return scope.view(value, tuple(value.axes[index] for index in order), value.offset)


def _frame(dims: Shape) -> Shape:
    return dims[1:] if len(dims) > 1 and dims[0] == 1 else dims


def _as_image(constant: Float32) -> Float32:
    """Return a constant with its last axis as channels: see `strided.joined`."""
    shape = joined(_frame(constant.shape))
    return np.ascontiguousarray(np.moveaxis(constant, -1, 0).reshape(shape))


def split(node: OnnxNode, scope: Scope) -> None:
    """Convert a Split of the channels, or along another axis."""
    value = scope.view_of(node.input(0))
    axis = node.integer("axis", 0)
    if not -len(value.dims) <= axis < len(value.dims):
        raise InvalidNodeError(f"splits axis {axis} of {len(value.dims)}")
    axis %= len(value.dims)
    sizes = _split_sizes(node, scope, value.dims[axis])
    if sum(sizes) != value.dims[axis] or min(sizes) < 0 or len(sizes) != len(node.outputs):
        raise InvalidNodeError(f"splits {value.dims[axis]} channels into {sizes} for {len(node.outputs)} outputs")
    start = 0
    for name, size in zip(node.outputs, sizes, strict=True):
        if name and not size:  # a Concat leaves it out again
            scope.define(name, np.zeros((*value.dims[:axis], 0, *value.dims[axis + 1 :]), value.dtype))
        elif name:
            _take(scope, node.input(0), name, axis, range(start, start + size))
        start += size


def _split_sizes(node: OnnxNode, scope: Scope, channels: int) -> tuple[int, ...]:
    if given := (scope.integers(node.input(1)) if node.input(1) else node.integers("split")):
        return given
    parts = node.integer("num_outputs", len(node.outputs))
    if not 1 <= parts <= channels:
        raise ModelError(f"splits {channels} channels into {parts} parts")
    each = math.ceil(channels / parts)
    return (*(each for _ in range(parts - 1)), channels - each * (parts - 1))


def gather(node: OnnxNode, scope: Scope) -> None:
    """Convert a Gather by constant numbers: of channels, or along another axis of what makes a view.

    That is one index, a range, or an array of indices with one step along each of its axes, as `as_strided` of
    PyTorch is exported.
    """
    value = scope.view_of(node.input(0))
    rank, axis = len(value.dims), node.integer("axis", 0)
    indices = scope.constant(node.input(1))
    if indices is None or not np.issubdtype(indices.dtype, np.integer):
        raise ModelError("input indices is supported only as constant integers")
    if not -rank <= axis < rank:
        raise InvalidNodeError(f"takes of axis {axis} of {rank}")
    axis %= rank
    size = value.dims[axis]
    order = [int(index) for index in indices.reshape(-1).tolist()]
    if not all(-size <= index < size for index in order):
        raise InvalidNodeError(f"takes channels beyond the {size} of its input")
    order = [index % size for index in order]
    if indices.ndim == 1:
        _take(scope, node.input(0), node.output, axis, order)
        return
    require_numbers(value)
    taken = value.axes[axis]
    steps = _steps_of(np.reshape(order, indices.shape))
    new = (ViewAxis(size, taken.stride * step) for size, step in zip(indices.shape, steps, strict=True))
    axes = (*value.axes[:axis], *new, *value.axes[axis + 1 :])
    scope.define(node.output, scope.view(value, axes, value.offset + taken.stride * order[0]))


def _steps_of(indices: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the step along each axis of indices. Raises ModelError if one of them has several."""
    first = indices.flat[0]
    steps = tuple(
        int(np.take(indices, min(1, size - 1), axis).flat[0] - first) for axis, size in enumerate(indices.shape)
    )
    grid = np.indices(indices.shape)
    regular = first + sum(step * grid[axis] for axis, step in enumerate(steps))
    if not np.array_equal(indices, regular):
        raise ModelError("takes indices without a regular step; supported are those of channels in a list")
    return steps


def _take(scope: Scope, source: str, output: str, axis: int, order: Sequence[int]) -> None:
    """Define `output` as these indices of `source` along an axis."""
    value = scope.view_of(source)
    if axis == 1 and value.has_batch and value.strides is None and len(value.shape) in {1, 3}:
        select(scope, source, output, order)
        return
    require_numbers(value)
    steps = {after - before for before, after in pairwise(order)}
    if len(steps) > 1 or (axis == 0 and value.has_batch):
        raise ModelError(f"takes {len(order)} indices of axis {axis}; supported are channels, or a range")
    step = min(steps, default=1)
    axes = list(value.axes)
    axes[axis] = ViewAxis(len(order), axes[axis].stride * step)
    scope.define(output, scope.view(value, tuple(axes), value.offset + value.axes[axis].stride * order[0]))


def require_numbers(value: Value) -> None:
    """Raise ModelError for a quantized tensor: only some operators take steps."""
    if value.zero is not None:
        raise ModelError("changes the order of quantized values; supported are channels")


def select(scope: Scope, source: str, output: str, order: Sequence[int]) -> None:
    """Define `output` as the channels `order` of `source`, an image or features."""
    tensor = scope.image(source) if len(scope.plain(source).shape) == 3 else scope.features(source)
    scope.push(SelectChannels(output, (tensor,), output, tuple(order)))


def shuffle(node: OnnxNode, scope: Scope, value: Value, order: tuple[int, ...]) -> bool:
    """Convert a Transpose of axes into which channels were reshaped, with rows and columns where they were.

    Channel shuffle is (groups, channels ÷ groups, height, width) with its first two exchanged (Zhang et al.,
    ShuffleNet, 2017). Return False for any other Transpose.
    """
    channels, *pixels = scope.shapes[value.tensor]
    moved = len(value.shape) - len(pixels)
    if moved < 1 or list(value.shape[moved:]) != pixels or order[0] != 0:
        return False
    rest = tuple(axis - 1 for axis in order[1:])
    if rest[moved:] != tuple(range(moved, len(rest))):
        return False
    numbers = np.arange(channels).reshape(value.shape[:moved]).transpose(rest[:moved])
    operator = SelectChannels(node.output, (value.tensor,), node.output, tuple(map(int, numbers.reshape(-1))))
    scope.push(operator, tuple(value.shape[axis] for axis in rest))
    return True


def local_response_norm(node: OnnxNode, scope: Scope) -> None:
    size = node.integer("size", 0)
    if size < 1:
        raise ModelError(f"attribute size is {size}; expected 1 or more channels")
    operator = LocalResponseNorm(
        node.output,
        (scope.image(node.input(0)),),
        node.output,
        size,
        node.real("alpha", 1e-4),
        node.real("beta", 0.75),
        node.real("bias", 1.0),
    )
    scope.push(operator)
