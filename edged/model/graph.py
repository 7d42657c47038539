"""The network as operators and tensors, independent of any device.

Shapes are those of one frame: (channels, height, width) or (features,). The batch is the plan's matter.
Weights are C-contiguous float32 and belong to their operator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
Pair = tuple[int, int]
Pads = tuple[int, int, int, int]
Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Operator:
    """The base of operators: a unique name, the tensors it reads, and the one it writes."""

    name: str
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True, eq=False)
class Conv(Operator):
    """2-D convolution, then `+ inputs[1]` where there is a second input (residual), then ReLU if `relu`.

    weight: [out channels, in channels ÷ groups, kernel height, kernel width]; bias: [out channels].
    strides and dilations are (vertical, horizontal); pads are (top, left, bottom, right), filled with zeros.
    """

    weight: Float32
    bias: Float32
    strides: Pair = (1, 1)
    pads: Pads = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    groups: int = 1
    relu: bool = False


@dataclass(frozen=True, eq=False)
class Dense(Operator):
    """Fully connected: weight [out features, in features] · x + bias [out features], then ReLU if `relu`."""

    weight: Float32
    bias: Float32
    relu: bool = False


@dataclass(frozen=True, eq=False)
class BatchNorm(Operator):
    """y = x · factor + offset by channel. `passes` folds it into the convolution before it."""

    factor: Float32
    offset: Float32


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
    """Element-wise sum of two tensors of one shape, then ReLU if `relu`."""

    relu: bool = False


@dataclass(frozen=True, eq=False)
class Relu(Operator):
    """max(x, 0)."""


@dataclass(frozen=True, eq=False)
class Softmax(Operator):
    """Softmax over the features (or channels) of a frame."""


@dataclass(frozen=True, eq=False)
class Flatten(Operator):
    """(channels, height, width) → (channels · height · width,), row-major."""


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
