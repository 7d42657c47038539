"""Put networks together layer by layer, with seeded random weights: for timing and for tests."""

import math

import numpy as np

from edged.model.activations import LINEAR, RELU, Activation
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    Combine,
    Concat,
    Conv,
    Dense,
    Flatten,
    Float32,
    Graph,
    MaxPool,
    Operator,
    Pads,
    SelectChannels,
    Shape,
)
from edged.model.shapes import make_graph, output_shape

BIAS_VARIANCE = 0.0025


class NetworkBuilder:
    """The operators so far; `tensor` is what the next layer reads, an image of 3 channels at first.

    Each layer is called by its name and writes the tensor of that name. Weights keep activations near one
    (He et al., "Delving Deep into Rectifiers", 2015). Raises ModelError where an image is too small for a window.
    """

    def __init__(self, name: str, width: int, height: int, seed: int = 0) -> None:
        self.tensor = "input"
        self._name = name
        self._random = np.random.default_rng(seed)
        self._operators: list[Operator] = []
        self._shapes: dict[str, Shape] = {"input": (3, height, width)}

    @property
    def channels(self) -> int:
        """Return how many channels, or features, `tensor` has."""
        return self._shapes[self.tensor][0]

    def conv(
        self,
        name: str,
        out: int,
        kernel: int,
        stride: int = 1,
        *,
        pad: int | None = None,
        groups: int = 1,
        activation: Activation = RELU,
        reads: str | None = None,
        residual: str | None = None,
        gain: float = 2.0,
    ) -> str:
        """Add a convolution with a square window; `pad`: half of the window by default.

        residual: a tensor that it adds before its activation. gain: how often the variance of its output, before
        the activation, is that of its input: 2 makes up for a ReLU.
        """
        source = reads or self.tensor
        inputs = self._shapes[source][0] // groups
        weight = self._normal((out, inputs, kernel, kernel), gain / (inputs * kernel * kernel))
        pads: Pads = (kernel // 2 if pad is None else pad,) * 4
        bias = self._normal((out,), BIAS_VARIANCE)
        sources = (source,) if residual is None else (source, residual)
        return self.push(
            Conv(name, sources, name, weight, bias, (stride, stride), pads, (1, 1), groups, activation)
        )

    def max_pool(
        self, name: str, kernel: int, stride: int, pad: int = 0, *, ceil: bool = False, reads: str | None = None
    ) -> str:
        """Add a maximum over windows. `ceil`: a last window that is cut off counts, too."""
        source = reads or self.tensor
        _, height, width = self._shapes[source]
        more = [(-(side + 2 * pad - kernel)) % stride if ceil else 0 for side in (height, width)]
        pads: Pads = (pad, pad, pad + more[0], pad + more[1])
        return self.push(MaxPool(name, (source,), name, (kernel, kernel), (stride, stride), pads))

    def average_pool(self, name: str, kernel: int, stride: int) -> str:
        return self.push(AveragePool(name, (self.tensor,), name, (kernel, kernel), (stride, stride)))

    def add(self, name: str, one: str, other: str) -> str:
        """Add the sum of two tensors."""
        return self.push(Add(name, (one, other), name))

    def concat(self, name: str, *tensors: str) -> str:
        """Join the channels of several images."""
        return self.push(Concat(name, tensors, name))

    def select(self, name: str, order: tuple[int, ...], reads: str | None = None) -> str:
        """Select channels in an order."""
        return self.push(SelectChannels(name, (reads or self.tensor,), name, order))

    def mean(self, name: str = "pool") -> str:
        """Take the mean of each channel, as features."""
        height, width = self._shapes[self.tensor][1:]
        self.push(AveragePool(name, (self.tensor,), name, (height, width)))
        return self.flatten()

    def squeeze_and_excite(self, name: str, channels: int, gate: Activation) -> str:
        """Multiply each channel by a factor computed from the means of all, by a bottleneck of `channels`.

        Hu et al., "Squeeze-and-Excitation Networks", 2018.
        """
        image, (count, height, width) = self.tensor, self._shapes[self.tensor]
        self.push(AveragePool(f"{name}.mean", (image,), f"{name}.mean", (height, width)))
        self.conv(f"{name}.narrow", channels, 1)
        wide = self.conv(f"{name}.widen", count, 1, activation=LINEAR)
        factors = self.push(Activate(f"{name}.gate", (wide,), f"{name}.gate", gate))
        return self.push(Combine(name, (image, factors), name, "multiply"))

    def flatten(self) -> str:
        return self.push(Flatten("flatten", (self.tensor,), "flatten"))

    def dense(self, name: str, out: int, activation: Activation = LINEAR) -> str:
        """Add a fully connected layer."""
        weight = self._normal((out, self.channels), (1 if activation == LINEAR else 2) / self.channels)
        return self.push(
            Dense(name, (self.tensor,), name, weight, self._normal((out,), BIAS_VARIANCE), activation)
        )

    def push(self, operator: Operator) -> str:
        """Append an operator and return the tensor that it writes."""
        shapes = (self._shapes[name] for name in operator.inputs)
        self._shapes[operator.output] = output_shape(operator, *shapes)
        self._operators.append(operator)
        self.tensor = operator.output
        return self.tensor

    def graph(self) -> Graph:
        return make_graph(self._name, "input", self._shapes["input"], self._operators)

    def _normal(self, shape: tuple[int, ...], variance: float) -> Float32:
        values = self._random.standard_normal(shape, np.float32)
        values *= np.float32(math.sqrt(variance))
        return values
