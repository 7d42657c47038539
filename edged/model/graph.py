"""The network as operators and tensors, independent of any device.

Shapes are those of one frame: (channels, height, width) or (features,). The batch is the plan's matter.
Weights are C-contiguous float32, those of quantized operators integers, and belong to their operator.

A quantized tensor holds steps: whole numbers from -255 to 255, which are the integers of the file less their zero
point, so that 0 is zero. Values are steps times a scale that belongs to the operators around.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.model.activations import LINEAR, Activation

Shape = tuple[int, ...]
Pair = tuple[int, int]
Pads = tuple[int, int, int, int]
Float32 = NDArray[np.float32]
Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Steps = Int8 | Int16
Int32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Operator:
    """The base of operators: a unique name, the tensors it reads, and the one it writes."""

    name: str
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True, eq=False)
class Conv(Operator):
    """2-D convolution, then `+ inputs[1]` where there is a second input (residual), then `activation`.

    weight: [out channels, in channels ÷ groups, kernel height, kernel width]; bias: [out channels].
    strides and dilations are (vertical, horizontal); pads are (top, left, bottom, right), filled with zeros.
    """

    weight: Float32
    bias: Float32
    strides: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    groups: int = 1
    activation: Activation = LINEAR


@dataclass(frozen=True, eq=False)
class Dense(Operator):
    """Fully connected: weight [out features, in features] · x + bias [out features], then `activation`."""

    weight: Float32
    bias: Float32
    activation: Activation = LINEAR


@dataclass(frozen=True, eq=False)
class BatchNorm(Operator):
    """y = x · factor + offset by channel. `passes` folds it into the convolution before it."""

    factor: Float32
    offset: Float32

    @property
    def scale(self) -> float | None:
        """Return the factor, if it is the same for all channels and nothing is added."""
        is_scale = bool((self.factor == self.factor[0]).all()) and not self.offset.any()
        return float(self.factor[0]) if is_scale else None


@dataclass(frozen=True, eq=False)
class MaxPool(Operator):
    """Maximum over a window; padding never wins."""

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class AveragePool(Operator):
    """Mean over a window; padding counts as zeros only if `count_include_pad`. Global: kernel = image."""

    kernel: Pair
    strides: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    count_include_pad: bool = False


@dataclass(frozen=True, eq=False)
class Add(Operator):
    """Element-wise sum of two tensors of one shape, then `activation`."""

    activation: Activation = LINEAR


@dataclass(frozen=True, eq=False)
class Activate(Operator):
    """`activation` of each value."""

    activation: Activation


@dataclass(frozen=True, eq=False)
class Combine(Operator):
    """`kind`(a, b) of each value, where a and b broadcast to one shape by NumPy's rules, each frame by itself.

    kind: `add`, `subtract`, `multiply`, `divide`, `minimum`, `maximum`, `power` or `prelu` (a, or a · b where a is
    negative). `constant`, where there is one, is b (or a if `is_reversed`), of the rank of a frame; else both are
    inputs.
    """

    kind: str
    constant: Float32 | None = None
    is_reversed: bool = False


@dataclass(frozen=True, eq=False)
class Concat(Operator):
    """The channels (or features) of all inputs, one behind the other."""


@dataclass(frozen=True, eq=False)
class Join(Operator):
    """Images one below the other (axis 1) or side by side (axis 2); `constant` is at `index` among them."""

    axis: int
    constant: Float32 | None = None
    index: int = 0


@dataclass(frozen=True, eq=False)
class Rearrange(Operator):
    """The values of the input in another order, some of them repeated or left out.

    output[i] = input[offset + Σ index[k] · strides[k]], with index = unravel_index(i, sizes).
    """

    shape: Shape
    sizes: Shape
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def sources(self) -> NDArray[np.int64]:
        """Return the place of each value of the output in the input, both row-major."""
        indices = np.full(1, self.offset, np.int64)
        for size, stride in zip(self.sizes, self.strides, strict=True):
            indices = (indices[:, np.newaxis] + np.arange(size, dtype=np.int64) * stride).reshape(-1)
        return indices


@dataclass(frozen=True, eq=False)
class Product(Operator):
    """A matrix product for each row, times `factor`: y[n, row, m] = factor · Σ a[k, row, m] · b[n, row, k].

    The sum is over the channels k of a.
    """

    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class LayerNorm(Operator):
    """(x − mean) ÷ √(variance + epsilon) · factor + offset, over the channels of each pixel (Ba et al., 2016)."""

    factor: Float32
    offset: Float32
    epsilon: float = 1e-5


@dataclass(frozen=True, eq=False)
class GroupNorm(Operator):
    """(x − mean) ÷ √(variance + epsilon) · factor + offset, over groups of channels of an image (Wu and He, 2018).

    factor and offset: [channels]. As many groups as channels: each channel by itself (Ulyanov et al., 2016).
    """

    groups: int
    factor: Float32
    offset: Float32
    epsilon: float = 1e-5


@dataclass(frozen=True, eq=False)
class ReduceChannels(Operator):
    """One number for each pixel, of its channels. kind: `mean`, `sum`, `maximum` or `minimum`."""

    kind: str


@dataclass(frozen=True, eq=False)
class GridSample(Operator):
    """Images at positions between their pixels: see `sampling`.

    Reads the images, and the positions, of which x and y are the channels. Both, and what it writes, are `images`
    images, one below the other.
    """

    images: int
    align_corners: bool


@dataclass(frozen=True, eq=False)
class Interpolate(Operator):
    """An image of another size: y[r, c] = Σ row_weights[r, i] · column_weights[c, j] · x[row_places[r, i], …].

    Places are int32 [rows, taps] and [columns, taps], and so are weights.
    """

    row_indices: Int32
    row_weights: Float32
    column_indices: Int32
    column_weights: Float32


@dataclass(frozen=True, eq=False)
class SelectChannels(Operator):
    """Channel (or feature) i of the output is channel `order[i]` of the input."""

    order: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LocalResponseNorm(Operator):
    """x ÷ (bias + alpha ÷ size · Σ x² over `size` channels around it)^beta (Krizhevsky et al., 2012)."""

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0


@dataclass(frozen=True, eq=False)
class Softmax(Operator):
    """Softmax over the channels of each pixel, or over features; its logarithm if `is_log`."""

    is_log: bool = False


@dataclass(frozen=True, eq=False)
class Flatten(Operator):
    """(channels, height, width) → (channels · height · width,), row-major."""


@dataclass(frozen=True, eq=False)
class Unflatten(Operator):
    """(features,) → (features, 1, 1): features as the channels of a single pixel."""


@dataclass(frozen=True, eq=False)
class Quantize(Operator):
    """Steps of a tensor: clip(round(x ÷ scale), *bounds), rounded half to even."""

    scale: float
    bounds: Pair


@dataclass(frozen=True, eq=False)
class Dequantize(Operator):
    """Values of steps: x · scale."""

    scale: float


@dataclass(frozen=True, eq=False)
class QuantizedConv(Operator):
    """2-D convolution of steps with exact sums of int32, then · factor by channel, then `activation`.

    With `bounds` the result is steps: clip(round(… ÷ scale), *bounds); without an activation the scale is 1.
    weight: steps, int8 if all fit, else int16 [out channels, in channels ÷ groups, kernel height, kernel width];
    bias: int32 [out channels]; factor: float32 [out channels]. The rest as of Conv.

    With a second input, a QuantizedAdd follows: of the steps of the convolution, within `own_bounds`, and of that
    input, in this order if `is_first`, with these `factors`; the sum is within `bounds`.
    """

    weight: Steps
    bias: Int32
    factor: Float32
    strides: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    groups: int = 1
    activation: Activation = LINEAR
    bounds: Pair | None = None
    scale: float = 1.0
    own_bounds: Pair | None = None
    factors: tuple[float, float] = (1.0, 1.0)
    is_first: bool = True


@dataclass(frozen=True, eq=False)
class QuantizedDense(Operator):
    """Fully connected layer of steps: as QuantizedConv, with a weight [out features, in features]."""

    weight: Steps
    bias: Int32
    factor: Float32
    activation: Activation = LINEAR
    bounds: Pair | None = None


@dataclass(frozen=True, eq=False)
class QuantizedAdd(Operator):
    """Steps of a sum: clip(round(a · factors[0] + b · factors[1]), *bounds).

    In float32, by a multiply-add that does not round the second product.
    """

    factors: tuple[float, float]
    bounds: Pair


@dataclass(frozen=True, eq=False)
class OnHost(Operator):
    """A node of an ONNX file that no kernel computes: the host computes it, one frame after the other.

    model: an ONNX model of that node with its constants, serialized; see `model.on_host`. reads: the shape of each
    of its inputs in the file, for a batch of 1. shape: of the output, of one frame.
    """

    kind: str
    model: bytes
    reads: tuple[Shape, ...]
    shape: Shape


@dataclass(frozen=True)
class NetworkOutput:
    """An output of a file, and its shape for one frame. All of a file follow each other in the graph's output."""

    name: str
    shape: Shape


@dataclass(frozen=True, eq=False)
class Graph:
    """Operators in topological order. `shapes` has every tensor.

    `recheck`: verifies weights that are mapped from a cache and unread; see `checked`.
    """

    name: str
    input: str
    output: str
    operators: tuple[Operator, ...]
    shapes: Mapping[str, Shape]
    recheck: Callable[[], "Graph"] | None = None

    def checked(self) -> "Graph":
        """Return the same graph with verified weights, for code that reads them."""
        return self.recheck() if self.recheck else self
