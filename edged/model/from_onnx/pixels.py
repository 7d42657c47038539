"""Convert DepthToSpace and SpaceToDepth, and ConvTranspose as a convolution with its pixels among the channels."""

import math
from itertools import product

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value
from edged.model.from_onnx.strided import Axes, ViewAxis, contiguous
from edged.model.from_onnx.window import pair
from edged.model.graph import Conv, Float32, Pads, Pair, Shape


def depth_to_space(node: OnnxNode, scope: Scope) -> None:
    value = scope.floats(node.input(0))
    block = node.integer("blocksize", 0)
    channels, height, width = _image_axes(value)
    if block < 1 or channels.size % block**2:
        raise InvalidNodeError(f"makes blocks of {block} × {block} of {channels.size} channels, which do not fit")
    out, step = channels.size // block**2, channels.stride
    if node.text("mode", "DCR") == "DCR":  # the block's rows, its columns, the channels
        depth = ViewAxis(out, step), ViewAxis(block, step * out * block), ViewAxis(block, step * out)
    else:
        depth = ViewAxis(out, step * block**2), ViewAxis(block, step * block), ViewAxis(block, step)
    channel, row, column = depth
    axes = (channel, height, row, width, column)
    _define(node, scope, value, axes, (out, height.size * block, width.size * block))


def space_to_depth(node: OnnxNode, scope: Scope) -> None:
    value = scope.floats(node.input(0))
    block = node.integer("blocksize", 0)
    channels, height, width = _image_axes(value)
    if block < 1 or height.size % block or width.size % block:
        raise InvalidNodeError(f"makes blocks of {block} × {block} of {height.size} × {width.size} pixels")
    rows, columns = (ViewAxis(axis.size // block, axis.stride * block) for axis in (height, width))
    axes = (ViewAxis(block, height.stride), ViewAxis(block, width.stride), channels, rows, columns)
    _define(node, scope, value, axes, (channels.size * block**2, rows.size, columns.size))


def _image_axes(value: Value) -> Axes:
    """Return the axes of channels, rows and columns."""
    if len(value.shape) != 3 or not value.has_batch:
        raise ModelError(f"reads a tensor of shape {value.dims}; supported are images")
    return value.frame


def _define(node: OnnxNode, scope: Scope, value: Value, axes: Axes, shape: Shape) -> None:
    tensor = scope.rearranged(value, axes, shape)
    scope.define(node.output, Value(tensor, shape))


def conv_transpose(node: OnnxNode, scope: Scope) -> None:
    """Convert a ConvTranspose: each pixel becomes stride × stride pixels, which are channels at first.

    Pixel s·i + p of the output is a sum over the input's pixels around i alone, with every s-th weight: for each p
    below the stride s a convolution of its own, and all of them have one window.
    """
    tensor = scope.image(node.input(0))
    weight = scope.weights(node.input(1))
    groups, strides = node.integer("group", 1), pair(node, "strides", (1, 1))
    if weight.ndim != 4 or pair(node, "dilations", (1, 1)) != (1, 1):
        raise ModelError("has dilations or other than two axes; supported are windows without gaps, of images")
    channels, *size = scope.shapes[tensor]
    if weight.shape[0] != channels or channels % groups:
        raise InvalidNodeError(f"has weights {weight.shape} in {groups} group(s) for {channels} channels")
    shape, begins = _output(node, (size[0], size[1]), (weight.shape[2], weight.shape[3]), strides)
    reads = [_reads(*each) for each in zip(begins, weight.shape[2:], strides, strict=True)]
    windows = reads[0][1] - reads[0][0] + 1, reads[1][1] - reads[1][0] + 1
    lows = reads[0][0], reads[1][0]
    phases = math.prod(strides)
    scope.reserve(weight.shape[0] * weight.shape[1] * phases * math.prod(windows))
    window = _phases(weight, groups, strides, begins, lows, windows)
    out = len(window) // phases
    bias = scope.weights(node.input(2)) if node.input(2) else np.zeros(out, np.float32)
    positions = math.ceil(shape[0] / strides[0]), math.ceil(shape[1] / strides[1])
    pads = _pads(lows, windows, (size[0], size[1]), positions)
    name = f"{node.output}/phases"
    scope.add(Conv(name, (tensor,), name, window, np.repeat(bias, phases), pads=pads, groups=groups))
    _spread(node, scope, name, strides, shape)


def _spread(node: OnnxNode, scope: Scope, name: str, strides: Pair, shape: Pair) -> None:
    """Define the output, rows and columns `shape`, whose pixels are the channels of the tensor `name`."""
    channels, high, across = scope.shapes[name]
    (down, right), pixels = strides, high * across
    out = channels // (down * right)
    axes = (
        *(ViewAxis(out, pixels * down * right), ViewAxis(high, across), ViewAxis(down, pixels * right)),
        *(ViewAxis(across, 1), ViewAxis(right, pixels)),
    )
    wide = high * down, across * right
    tensor = scope.rearranged(Value(name, scope.shapes[name]), axes, (out, *wide))
    rows = contiguous((out, *wide))
    cut = (rows[0], ViewAxis(shape[0], rows[1].stride), ViewAxis(shape[1], 1))
    _define(node, scope, Value(tensor, (out, *wide)), cut, (out, *shape))


def _output(node: OnnxNode, size: Pair, kernel: Pair, strides: Pair) -> tuple[Pair, Pair]:
    """Return rows and columns of the output, and how many are cut off at the top and the left."""
    extra = node.integers("output_padding") or (0, 0)
    wanted = node.integers("output_shape")
    auto = node.text("auto_pad", "NOTSET")
    given = node.integers("pads") or (0, 0, 0, 0)
    found, begins = [], []
    for place, (side, window, stride) in enumerate(zip(size, kernel, strides, strict=True)):
        whole = stride * (side - 1) + window + extra[place]
        if wanted or auto.startswith("SAME"):
            end = wanted[place - 2] if wanted else side * stride
            total = whole - end
            begin = total // 2 if auto == "SAME_UPPER" else total - total // 2
        else:
            begin = 0 if auto == "VALID" else given[place]
            end = whole - begin - (0 if auto == "VALID" else given[place + 2])
        if end < 1 or begin < 0:
            raise ModelError(
                f"writes an image of {end} pixels along a side; expected 1 or more, and no negative pads"
            )
        found.append(end)
        begins.append(begin)
    return (found[0], found[1]), (begins[0], begins[1])


def _reads(begin: int, kernel: int, stride: int) -> Pair:
    """Return the first and the last pixel of the input that a window reads along an axis, from its own pixel."""
    reads = [((tap - begin) % stride + begin - tap) // stride for tap in range(kernel)]
    return min(reads), max(reads)


def _phases(weight: Float32, groups: int, strides: Pair, begins: Pair, lows: Pair, windows: Pair) -> Float32:
    """Return weights [out channels · phases, in channels ÷ groups, window rows, window columns]."""
    channels, out_per_group, *kernel = weight.shape
    out, per_group = out_per_group * groups, channels // groups
    grouped = weight.reshape(groups, per_group, out_per_group, *kernel).transpose(0, 2, 1, 3, 4)
    grouped = grouped.reshape(out, per_group, *kernel)
    window = np.zeros((out, *strides, per_group, *windows), np.float32)
    for taps in product(*map(range, kernel)):
        phase = [(tap - begin) % stride for tap, begin, stride in zip(taps, begins, strides, strict=True)]
        row, column = (
            (phase[axis] + begins[axis] - tap) // strides[axis] - lows[axis] for axis, tap in enumerate(taps)
        )
        window[:, phase[0], phase[1], :, row, column] = grouped[:, :, taps[0], taps[1]]
    return window.reshape(-1, per_group, *windows)


def _pads(lows: Pair, windows: Pair, size: Pair, wanted: Pair) -> Pads:
    """Return the zeros around the input for so many rows and columns of windows."""
    ends = [
        count + low + window - 1 - side
        for count, low, window, side in zip(wanted, lows, windows, size, strict=True)
    ]
    if max(lows) > 0:
        raise ModelError("cuts off more than its window at the top or the left")
    return -lows[0], -lows[1], max(0, ends[0]), max(0, ends[1])
