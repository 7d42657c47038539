"""Convert DepthToSpace, SpaceToDepth, GridSample, and ConvTranspose as one with its pixels among the channels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value
from edged.model.from_onnx.strided import Axes, ViewAxis, contiguous
from edged.model.from_onnx.window import pair
from edged.model.graph import Conv, Float32, GridSample, Pair, Shape

IMAGES = 4  # axes of a batch of images


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


def grid_sample(node: OnnxNode, scope: Scope) -> None:
    """Convert a linear GridSample of images with zeros beyond them, at computed positions."""
    if node.text("mode", "linear") not in {"linear", "bilinear"} or node.text("padding_mode", "zeros") != "zeros":
        raise ModelError("samples otherwise than linearly with zeros beyond the border")
    source, positions = (scope.floats(node.input(index)) for index in (0, 1))
    if len(source.dims) != IMAGES or len(positions.dims) != IMAGES:
        raise ModelError(f"samples a tensor of shape {source.dims} at {positions.dims}; supported are images")
    images, channels, height, width = source.axes
    others, rows, columns, numbers = positions.axes
    if images.size != others.size or numbers.size != 2:
        raise InvalidNodeError(f"samples a tensor of shape {source.dims} at positions of shape {positions.dims}")
    count = images.size
    tensors = (
        scope.rearranged(
            source, (channels, images, height, width), (channels.size, count * height.size, width.size)
        ),
        scope.rearranged(positions, (numbers, others, rows, columns), (2, count * rows.size, columns.size)),
    )
    scope.add(GridSample(node.output, tensors, node.output, count, bool(node.integer("align_corners", 0))))
    of_channels, of_images, *pixels = contiguous((channels.size, count, rows.size, columns.size))
    seen = Value(node.output, scope.shapes[node.output])
    scope.define(node.output, scope.view(seen, (of_images, of_channels, *pixels)))


def _image_axes(value: Value) -> Axes:
    """Return the axes of channels, rows and columns."""
    if len(value.shape) != 3 or not value.has_batch:
        raise ModelError(f"reads a tensor of shape {value.dims}; supported are images")
    return value.frame


def _define(node: OnnxNode, scope: Scope, value: Value, axes: Axes, shape: Shape) -> None:
    tensor = scope.rearranged(value, axes, shape)
    scope.define(node.output, Value(tensor, shape))


@dataclass(frozen=True)
class _Side:
    """A transposed convolution along one axis: of an image of `pixels`, after `begin` pixels that are cut off.

    Tap t writes to pixel stride · i + dilation · t − begin of the output. Pixels stride · i + p are computed
    together, as phase p, by a window of the input from pixel i + `low` on.
    """

    pixels: int
    taps: int
    stride: int
    dilation: int
    begin: int

    @property
    def reach(self) -> int:
        """Return how many pixels of the output each pixel of the input writes to, from the first to the last."""
        return self.dilation * (self.taps - 1) + 1

    @property
    def gap(self) -> int:
        """Return the distance of pixels in a window; with a stride, phases have taps in between."""
        return self.dilation if self.stride == 1 else 1

    @property
    def low(self) -> int:
        return min(self._pixel(tap) for tap in range(self.taps))

    @property
    def window(self) -> int:
        """Return the number of pixels in a window that has the taps of every phase."""
        return (max(self._pixel(tap) for tap in range(self.taps)) - self.low) // self.gap + 1

    def phase(self, tap: int) -> Pair:
        """Return the phase of a tap and its index in the window."""
        return (tap * self.dilation - self.begin) % self.stride, (self._pixel(tap) - self.low) // self.gap

    def pads(self, wanted: int) -> Pair:
        """Return the zeros before and after the image for so many windows. Raises ModelError."""
        if self.low > 0:
            raise ModelError("cuts off more than its window at the top or the left")
        end = wanted + self.low + self.gap * (self.window - 1) - self.pixels
        return -self.low, max(0, end)

    def _pixel(self, tap: int) -> int:
        """Return the pixel of the input that a tap reads, counted from i."""
        return -((tap * self.dilation - self.begin) // self.stride)


def conv_transpose(node: OnnxNode, scope: Scope) -> None:
    """Convert a ConvTranspose: each pixel becomes stride × stride pixels, which are channels at first.

    Pixel s·i + p of the output is a sum over the input's pixels around i alone, with every s-th weight: for each p
    below the stride s a convolution of its own, and all of them have one window.
    """
    tensor = scope.image(node.input(0))
    weight = scope.weights(node.input(1))
    groups, strides = node.integer("group", 1), pair(node, "strides", (1, 1))
    if weight.ndim != 4:
        raise ModelError("has other than two axes; supported are windows of images")
    channels, *size = scope.shapes[tensor]
    if weight.shape[0] != channels or channels % groups:
        raise InvalidNodeError(f"has weights {weight.shape} in {groups} group(s) for {channels} channels")
    dilations = pair(node, "dilations", (1, 1))
    uncut = [_Side(*numbers, 0) for numbers in zip(size, weight.shape[2:], strides, dilations, strict=True)]
    shape, begins = _output(node, uncut)
    down, across = (replace(side, begin=begin) for side, begin in zip(uncut, begins, strict=True))
    phases = math.prod(strides)
    scope.reserve(weight.shape[0] * weight.shape[1] * phases * down.window * across.window)
    window = _phases(weight, groups, down, across)
    out = len(window) // phases
    bias = scope.weights(node.input(2)) if node.input(2) else np.zeros(out, np.float32)
    top, bottom = down.pads(math.ceil(shape[0] / strides[0]))
    left, right = across.pads(math.ceil(shape[1] / strides[1]))
    name, pads = f"{node.output}/phases", (top, left, bottom, right)
    bias, gaps = np.repeat(bias, phases), (down.gap, across.gap)
    scope.add(Conv(name, (tensor,), name, window, bias, pads=pads, dilations=gaps, groups=groups))
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


def _output(node: OnnxNode, sides: Sequence[_Side]) -> tuple[Pair, Pair]:
    """Return rows and columns of the output, and how many are cut off at the top and the left."""
    extra = node.integers("output_padding") or (0, 0)
    wanted = node.integers("output_shape")
    auto = node.text("auto_pad", "NOTSET")
    given = node.integers("pads") or (0, 0, 0, 0)
    found, begins = [], []
    for index, side in enumerate(sides):
        whole = side.stride * (side.pixels - 1) + side.reach + extra[index]
        if wanted or auto.startswith("SAME"):
            end = wanted[index - 2] if wanted else side.pixels * side.stride
            total = whole - end
            begin = total // 2 if auto == "SAME_UPPER" else total - total // 2
        else:
            begin = 0 if auto == "VALID" else given[index]
            end = whole - begin - (0 if auto == "VALID" else given[index + 2])
        if end < 1 or begin < 0:
            raise ModelError(
                f"writes an image of {end} pixels along a side; expected 1 or more, and no negative pads"
            )
        found.append(end)
        begins.append(begin)
    return (found[0], found[1]), (begins[0], begins[1])


def _phases(weight: Float32, groups: int, down: _Side, across: _Side) -> Float32:
    """Return weights [out channels · phases, in channels ÷ groups, window rows, window columns]."""
    channels, out_per_group, *kernel = weight.shape
    out, per_group = out_per_group * groups, channels // groups
    grouped = weight.reshape(groups, per_group, out_per_group, *kernel).transpose(0, 2, 1, 3, 4)
    grouped = grouped.reshape(out, per_group, *kernel)
    window = np.zeros((out, down.stride, across.stride, per_group, down.window, across.window), np.float32)
    for row, column in product(range(down.taps), range(across.taps)):
        (phase_down, y), (phase_across, x) = down.phase(row), across.phase(column)
        window[:, phase_down, phase_across, :, y, x] = grouped[:, :, row, column]
    return window.reshape(-1, per_group, down.window, across.window)
