"""The state while a file is read: its constants, and the tensors of the graph so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.border import border, outside_of
from edged.model.from_onnx.strided import Axes, ViewAxis, contiguous, is_contiguous, joined, merged, sizes_of
from edged.model.graph import (
    Combine,
    Concat,
    Conv,
    Flatten,
    Float32,
    Operator,
    Pads,
    Pair,
    Rearrange,
    Shape,
    Unflatten,
)
from edged.model.shapes import MAX_VALUES, output_shape

JOINED = "outputs/joined"  # the tensor of all outputs
NO_PADS: Pads = (0, 0, 0, 0)
MAX_SELECTION = 2**26  # weights of one identity convolution
MAX_INTEGERS = 64  # of a list by axis
MAX_COMPUTED = 16  # times MAX_VALUES: of constants that nodes make, also those that are no longer there
FLOATS = (np.float16, np.float32, np.float64)

Constant = NDArray[np.generic]
Checkpoint = tuple[int, ...]


class InvalidNodeError(ModelError):
    """A node that is wrong wherever it is computed; other refusals are those of kernels, and the host may do."""


class HostOnlyError(ModelError):
    """A node that reads what no kernel takes, so that only the host can compute it."""


@dataclass(frozen=True)
class Value:
    """A tensor of the file: the graph's `tensor`, seen with the shape `shape` (of one frame).

    `strides` and `offset`: where its values lie in the graph's tensor, an axis each; None: in its order.
    `steps`, `channel_pads` (before, after) and `pads` are what Slice and Pad nodes did to it and no operator has
    done yet; at most one of `steps` and `pads` is set, and none of a tensor with strides. `filler`: the number of
    the `pads`, which is 0 with `channel_pads`.
    `has_batch`: whether the batch is an axis before `shape`. `dtype`: the file's, though the graph has float32.
    `zero`: of a tensor of steps, the file's zero point; of others None.
    """

    tensor: str
    shape: Shape
    steps: Pair = (1, 1)
    channel_pads: Pair = (0, 0)
    pads: Pads = NO_PADS
    filler: float = 0.0
    has_batch: bool = True
    dtype: str = "float32"
    zero: int | None = None
    strides: tuple[int, ...] | None = None
    offset: int = 0

    @property
    def dims(self) -> Shape:
        """Return the file's shape for a batch of one."""
        return (1, *self.shape) if self.has_batch else self.shape

    @property
    def axes(self) -> Axes:
        """Return an axis for each of `dims`."""
        if self.strides is None:
            return contiguous(self.dims)
        axes = tuple(map(ViewAxis, self.shape, self.strides))
        return (ViewAxis(1, 0), *axes) if self.has_batch else axes

    @property
    def frame(self) -> Axes:
        """Return the axes without that of the batch."""
        return self.axes[1:] if self.has_batch else self.axes

    @property
    def pending(self) -> bool:
        return (self.steps, self.channel_pads, self.pads) != ((1, 1), (0, 0), NO_PADS)


@dataclass(frozen=True, eq=False)
class Grid:
    """Quantized constants: `values` are `steps` times `scale`: one scale, or one for each index of `axis`."""

    steps: NDArray[np.int64]
    scale: Float32
    axis: int
    values: Float32


class Scope:
    """Collects constants, tensors and operators. `source`: the network's input; `shape`: in the graph.

    `batch`: the frames that the file fixes for its input, of which edged computes one; 0 if it leaves them open.

    The methods raise ModelError without file and node; the reader adds them.
    """

    def __init__(self, source: Value, shape: Shape, batch: int = 1) -> None:
        self.batch = batch
        self.operators: list[Operator] = []
        self.shapes: dict[str, Shape] = {source.tensor: shape}
        self._constants: dict[str, Constant] = {}
        self._values = {source.tensor: source}
        self._weights: dict[str, Float32] = {}
        self.writers: dict[str, str] = {}  # the names of the file's nodes, by the tensors that they write
        self.grids: dict[str, Grid] = {}  # of constants that DequantizeLinear writes
        self._left = MAX_VALUES  # of weights
        self._folded_left = MAX_VALUES  # of constants that nodes make, at the same time
        self._computed_left = MAX_COMPUTED * MAX_VALUES  # a small file can require much time
        self._made: dict[str, int] = {}  # such constants, with their values

    def reserve(self, values: int) -> None:
        """Reserve memory for weights before they are made: a small file can require much."""
        self._left -= values
        if self._left < 0:
            raise InvalidNodeError(f"takes the weights of the network beyond {MAX_VALUES} values")

    def reserve_constant(self, values: int, name: str = "") -> None:
        """Reserve memory for a constant that a node makes, before it is made; `name`: until `forget`."""
        self._folded_left -= values
        self._computed_left -= values
        if min(self._folded_left, self._computed_left) < 0:
            raise InvalidNodeError(f"takes the constants of the network beyond {MAX_VALUES} values")
        if name:
            self._made[name] = values

    def forget(self, name: str) -> None:
        """Free the values of a constant that a node made, once no other node reads it; shape and dtype stay."""
        if name in self._made and name in self._constants:
            constant = self._constants[name]
            self._constants[name] = np.broadcast_to(np.empty((), constant.dtype), constant.shape)
            self._folded_left += self._made.pop(name)

    def define(self, name: str, value: Value | Constant) -> None:
        """Define a name of the file, which must be new."""
        if name in self._values or name in self._constants:
            raise ModelError(f"writes tensor {name}, which is already written")
        if isinstance(value, Value):
            self._values[name] = value
        else:
            self._constants[name] = value

    def constant(self, name: str) -> Constant | None:
        """Return a constant; None if the tensor depends on the network's input."""
        return self._constants.get(name)

    def known(self, name: str) -> Value | None:
        """Return a tensor that depends on the network's input; None for constants and unknown names."""
        return self._values.get(name)

    def integers(self, name: str) -> tuple[int, ...]:
        """Return a constant list of integers."""
        constant = self._constants.get(name)
        if constant is None or not np.issubdtype(constant.dtype, np.integer):
            raise ModelError(f"input {name} is supported only as constant integers")
        if constant.size > MAX_INTEGERS:
            raise ModelError(f"input {name} holds {constant.size} integers; supported are up to {MAX_INTEGERS}")
        return tuple(int(number) for number in constant.reshape(-1))

    def weights(self, name: str) -> Float32:
        """Return constant floats, all finite, as float32: one array, which each reading node packs anew."""
        if name in self._weights:
            self.reserve(self._weights[name].size)
            return self._weights[name]
        constant = self._constants.get(name)
        if constant is None:
            self.raw_value(name)  # a tensor that nothing writes is reported as such
            raise ModelError(f"input {name} is supported only as constant weights")
        if constant.dtype.type not in FLOATS and constant.dtype.name != "bfloat16":
            raise ModelError(
                f"input {name} is of type {constant.dtype}; supported are bfloat16, float16, float32 and float64"
            )
        if np.isinf(constant).any() and not np.isnan(constant).any():
            raise ModelError(f"input {name} holds infinities; supported are finite weights")
        self.reserve(constant.size)
        self._weights[name] = as_weights(constant, f"input {name}")
        return self._weights[name]

    def of_one_frame(self, constant: Float32, value: Value) -> Float32:
        """Return a constant beside a value: its first frame, where the file's batch has the same for each."""
        is_batch = self.batch > 1 and value.has_batch and constant.ndim == len(value.dims)
        if is_batch and len(constant) == self.batch and (constant == constant[:1]).all():
            return constant[:1]
        return constant

    def value(self, name: str) -> Value:
        """Return a tensor that depends on the network's input: a batch of floats, in its order."""
        value = self.raw_value(name)
        if value.dtype != "float32":
            raise HostOnlyError(f"input {name} is of type {value.dtype}; supported are floats")
        if not value.has_batch:
            raise HostOnlyError(f"input {name} has shape {value.shape}; supported is a batch as its first axis")
        return self.in_order(value)

    def raw_value(self, name: str) -> Value:
        """Return a tensor that depends on the network's input: of any type, or a view of another one."""
        if name in self._constants:
            raise ModelError(f"input {name} is constant; supported is a tensor that the network computes")
        if name not in self._values:
            why = ": the file lacks it"
            if writer := self.writers.get(name):
                why = f", only node {writer} after it: the graph has a cycle or its nodes are not in order"
            raise ModelError(f"reads tensor {name}, which nothing before it writes{why}; export the network again")
        return self._values[name]

    def any_value(self, name: str) -> Value:
        """Return a tensor of any type, with or without a batch, in its order, without pending steps or pads."""
        return self.in_order(self.view_of(name))

    def view_of(self, name: str) -> Value:
        """Return a tensor as `any_value` does, or a view of another one."""
        value = self.raw_value(name)
        return self.applied(value) if value.pending else value

    def floats(self, name: str) -> Value:
        """Return a tensor of floats as `view_of` does, with or without a batch."""
        value = self.view_of(name)
        if value.dtype != "float32" or value.zero is not None:
            raise HostOnlyError(f"input {name} is of type {value.dtype}; supported are floats")
        return value

    def view(self, value: Value, axes: Axes, offset: int = 0) -> Value:
        """Return another view of the tensor of a value; the axes are those for a batch of one."""
        dims = sizes_of(axes)
        has_batch = len(dims) > 1 and dims[0] == 1
        frame = axes[1:] if has_batch else axes
        strides = tuple(axis.stride if axis.size > 1 else 0 for axis in frame)
        seen = replace(value, shape=sizes_of(frame), has_batch=has_batch, strides=strides, offset=offset)
        return replace(seen, strides=None) if self.is_whole(seen) and is_contiguous(frame) else seen

    def is_whole(self, value: Value) -> bool:
        """Return whether a view has each value of its tensor once."""
        axes = tuple(sorted((axis for axis in value.frame if axis.size > 1), key=lambda axis: -axis.stride))
        size = math.prod(self.shapes[value.tensor])
        return value.offset == 0 and math.prod(value.shape) == size and is_contiguous(axes)

    def image_axes(self, value: Value) -> tuple[int, ...] | None:
        """Return which axis of the graph's tensor each axis of a frame is; None if it is no order of them."""
        own, found = contiguous(self.shapes[value.tensor]), list[int]()
        for axis in value.frame:
            alike = (index for index, other in enumerate(own) if other == axis or other.size == axis.size == 1)
            found.append(next((index for index in alike if index not in found), -1))
        return tuple(found) if sorted(found) == list(range(len(own))) and self.is_whole(value) else None

    def in_order(self, value: Value) -> Value:
        """Return the same values as a tensor in the file's order of axes."""
        if value.strides is None:
            return value
        tensor = self.rearranged(value, value.frame, value.shape or (1,))
        return replace(value, tensor=tensor, strides=None, offset=0)

    def joined(self, value: Value) -> str:
        """Return the graph's tensor for a value with its last axis as channels: see `strided.joined`."""
        *before, last = value.frame or (ViewAxis(1, 1),)
        return self.rearranged(value, (last, *before), joined(value.shape or (1,)))

    def seen_joined(self, tensor: str, dims: Shape) -> Value:
        """Return the view of a tensor that `joined` would return for the shape `dims` (for a batch of one)."""
        if not dims:
            return Value(tensor, (), has_batch=False)
        *before, last = dims
        return self.view(Value(tensor, dims), (*contiguous(tuple(before)), ViewAxis(last, math.prod(before))))

    def elements(self, value: Value) -> Value:
        """Return the same values as a view that has each value of its tensor once, for operators by element."""
        return value if self.is_whole(value) else self.seen_joined(self.joined(value), value.dims)

    def rearranged(self, value: Value, axes: Axes, shape: Shape) -> str:
        """Return the graph's tensor of `shape` whose values, in its order, are those along `axes` of a value."""
        seen = replace(value, shape=sizes_of(axes), strides=tuple(axis.stride for axis in axes), has_batch=False)
        if self.is_whole(seen) and is_contiguous(axes):
            own = self.shapes[value.tensor]
            if own == shape:
                return value.tensor
            if len(shape) == 1:
                return self.flat(value.tensor)
            if shape == (*own, 1, 1):
                return self.as_image(value.tensor)
        runs = merged(axes)
        layout = "x".join(map(str, shape)), ",".join(f"{axis.size}by{axis.stride}" for axis in runs)
        name = f"{value.tensor}/{layout[0]}of{value.offset}:{layout[1]}"
        if name not in self.shapes:
            sizes, strides = sizes_of(runs), tuple(axis.stride for axis in runs)
            self.add(Rearrange(name, (value.tensor,), name, shape, sizes, strides, value.offset))
        return name

    def checkpoint(self) -> Checkpoint:
        """Return the state for `restore`."""
        return (*map(len, self._collections), self._left, self._folded_left)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Drop all that was added since: a conversion that failed halfway leaves nothing."""
        *sizes, self._left, self._folded_left = checkpoint
        for collection, size in zip(self._collections, sizes, strict=True):
            while len(collection) > size:
                collection.popitem() if isinstance(collection, dict) else collection.pop()

    @property
    def _collections(self) -> tuple[Any, ...]:
        return self.operators, self.shapes, self._constants, self._values, self._weights, self.grids

    def plain(self, name: str) -> Value:
        """Return a tensor without pending steps or pads."""
        value = self.value(name)
        return self.applied(value) if value.pending else value

    def image(self, name: str) -> str:
        """Return the graph's tensor for an input of shape (channels, height, width)."""
        return self._image(name, self.plain(name))

    def padded_image(self, name: str, filler: float = 0.0) -> tuple[str, Pads]:
        """Return an image, and the pads of `filler` around it that the reading operator must add itself."""
        value = self.value(name)
        if value.steps != (1, 1) or value.channel_pads != (0, 0) or value.filler != filler:
            value = self.applied(value)
        if any(value.pads):
            return value.tensor, value.pads
        return self._image(name, value), NO_PADS

    def bordered(self, name: str) -> Value:
        """Return an image with all Slice and Pad nodes so far applied."""
        value = self.value(name)
        return value if value.pending else replace(value, tensor=self._image(name, value))

    def features(self, name: str) -> str:
        """Return the graph's tensor for an input of shape (features,)."""
        value = self.plain(name)
        if len(value.shape) != 1:
            raise ModelError(f"input {name} has shape {value.shape}; supported is (features,), as after Flatten")
        if self.shapes[value.tensor] == value.shape:
            return value.tensor
        return self.flat(value.tensor)

    def flat(self, tensor: str) -> str:
        """Return a tensor of the graph as features."""
        flat = f"{tensor}/flat"
        if flat not in self.shapes:
            self.add(Flatten(flat, (tensor,), flat))
        return flat

    def joined_vectors(self, vectors: Sequence[str]) -> str:
        """Return the graph's tensor in which these vectors follow each other."""
        self.add(Concat(JOINED, tuple(vectors), JOINED))
        return JOINED

    def padded_size(self, tensor: str, pads: Pads) -> Pair:
        """Return height and width of a tensor of the graph, zeros around it included."""
        _, height, width = self.shapes[tensor]
        return height + pads[0] + pads[2], width + pads[1] + pads[3]

    def writer(self, tensor: str) -> Operator | None:
        """Return the operator that writes a tensor of the graph; None for the network's input."""
        return next((operator for operator in self.operators if operator.output == tensor), None)

    def push(self, operator: Operator, shape: Shape | None = None) -> None:
        """Append an operator that writes a tensor of the file, of the shape `shape` if that is not its own."""
        self.add(operator)
        own = self.shapes[operator.output]
        self.define(operator.output, Value(operator.output, own if shape is None else shape))

    def push_seen(self, operator: Operator, seen: Value) -> None:
        """Append an operator, and define the tensor of the file that it writes as `seen`."""
        self.add(operator)
        self.define(operator.output, seen)

    def push_joined(self, operator: Operator, dims: Shape) -> None:
        """Append an operator that writes the last axis of the file's shape `dims` as channels: see `joined`."""
        self.add(operator)
        self.define(operator.output, self.seen_joined(operator.output, dims))

    def add(self, operator: Operator) -> None:
        """Append an operator, without a tensor of the file."""
        if operator.output in self.shapes:
            raise ModelError(f"writes tensor {operator.output}, which is already written")
        shape = output_shape(operator, *(self.shapes[tensor] for tensor in operator.inputs))
        if not 0 < math.prod(shape) <= MAX_VALUES:
            limit = f"it may hold 1 to {MAX_VALUES} values: export the network for a smaller input"
            raise ModelError(f"would write a tensor of shape {shape}; {limit}")
        self.shapes[operator.output] = shape
        self.operators.append(operator)

    def _image(self, name: str, value: Value) -> str:
        if value.shape[1:] == (1, 1) and self.shapes[value.tensor] == value.shape[:1]:
            return self.as_image(value.tensor)
        if len(value.shape) != 3:
            raise ModelError(f"input {name} has shape {value.shape}; supported is (channels, height, width)")
        if value.zero is not None and self.shapes[value.tensor] != value.shape:
            raise ModelError(
                f"input {name} is a quantized tensor in another shape; supported are images as they are"
            )
        return self.rearranged(value, value.frame, value.shape)

    def as_image(self, tensor: str) -> str:
        """Return a vector of features as the channels of a single pixel."""
        image = f"{tensor}/image"
        if image not in self.shapes:
            self.add(Unflatten(image, (tensor,), image))
        return image

    def applied(self, value: Value) -> Value:
        """Return a tensor with its pending steps and pads applied.

        They are a border, or a 1×1 convolution whose weights are 1 for kept channels, else 0.
        """
        if (value.steps, value.channel_pads) == ((1, 1), (0, 0)):
            return Value(self.with_border(value.tensor, value.pads, value.filler), value.shape)
        channels = self.shapes[value.tensor][0]
        before, after = value.channel_pads
        out = before + channels + after
        if out * channels > MAX_SELECTION:
            raise ModelError(f"pads {channels} channels to {out}, which is more than is supported")
        self.reserve(out * channels)
        weight = np.eye(out, channels, -before, np.float32)[:, :, None, None]
        name = f"{value.tensor}/{'x'.join(map(str, value.steps + value.channel_pads + value.pads))}"
        if name not in self.shapes:
            bias = np.zeros(out, np.float32)
            self.add(Conv(name, (value.tensor,), name, weight, bias, value.steps, value.pads))
        return Value(name, value.shape)

    def with_border(self, tensor: str, pads: Pads, filler: float = 0.0) -> str:
        """Return an image of the graph with `filler` around it."""
        name = f"{tensor}/{'x'.join(map(str, pads))}"
        if name not in self.shapes:
            self.add(border(name, tensor, self.shapes[tensor], pads))
        if not filler:
            return name
        filled = f"{name}of{filler:g}"
        if filled not in self.shapes:
            outside = outside_of(self.shapes[tensor], pads)
            numbers = np.where(outside, np.float32(filler), np.float32(0))
            self.add(Combine(filled, (name,), filled, "add", numbers))
        return filled


def as_weights(numbers: Constant, what: str) -> Float32:
    """Return a copy in float32, writable. Raises ModelError for numbers that are not finite in float32."""
    with np.errstate(over="ignore"):  # overflow is detected by the next line
        weights = numbers.astype(np.float32, order="C")
    if not np.isfinite(weights).all():
        index = tuple(map(int, np.argwhere(~np.isfinite(weights))[0]))
        problem = f"{what} holds infinities or NaN, or numbers that float32 does not hold"
        raise InvalidNodeError(f"{problem}, the first at index {index}: export the network with finite weights")
    return weights
