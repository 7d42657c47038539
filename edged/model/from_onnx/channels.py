"""Concat, Split, Gather, channel shuffle and LRN: nodes that join, pick or compare channels."""

import math
from collections.abc import Sequence

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value
from edged.model.graph import Concat, LocalResponseNorm, SelectChannels


def concat(node: OnnxNode, scope: Scope) -> None:
    """Convert a Concat of images by channel, or of features."""
    values = [scope.plain(name) for name in node.inputs]
    rank = len(values[0].shape) + 1
    axis = node.integer("axis", 1)
    if axis not in {1, 1 - rank} or rank not in {2, 4}:
        raise ModelError(
            f"joins along axis {axis} of {rank}; supported is axis 1, the channels: edged has each frame by itself"
        )
    read = scope.image if rank == 4 else scope.features
    tensors = tuple(map(read, node.inputs))
    if len(tensors) == 1:
        scope.define(node.output, values[0])
    else:
        scope.push(Concat(node.output, tensors, node.output))


def split(node: OnnxNode, scope: Scope) -> None:
    """Convert a Split of the channels."""
    channels = _channels(node, scope, node.integer("axis", 0))
    sizes = _split_sizes(node, scope, channels)
    if sum(sizes) != channels or min(sizes) < 1 or len(sizes) != len(node.outputs):
        raise InvalidNodeError(f"splits {channels} channels into {sizes} for {len(node.outputs)} outputs")
    start = 0
    for name, size in zip(node.outputs, sizes, strict=True):
        if name:
            select(scope, node.input(0), name, range(start, start + size))
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
    """Convert a Gather of channels by constant numbers."""
    channels = _channels(node, scope, node.integer("axis", 0))
    indices = scope.constant(node.input(1))
    if indices is None or not np.issubdtype(indices.dtype, np.integer) or indices.ndim != 1:
        raise ModelError("input indices is supported only as a constant list of integers")
    order = [int(index) for index in indices.tolist()]
    if not all(-channels <= index < channels for index in order):
        raise InvalidNodeError(f"takes channels beyond the {channels} of its input")
    select(scope, node.input(0), node.output, [index % channels for index in order])


def _channels(node: OnnxNode, scope: Scope, axis: int) -> int:
    """Return how many channels the first input has. Raises ModelError where `axis` is another axis."""
    shape = scope.plain(node.input(0)).shape
    if axis not in {1, -len(shape)} or len(shape) not in {1, 3}:
        raise ModelError(f"is along axis {axis} of (batch, {', '.join(map(str, shape))}); supported are channels")
    return shape[0]


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
