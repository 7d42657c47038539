"""What a network learns, as it lies on the device: all parameters in one buffer, each as the kernels read it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import Resident
from edged.engine.layout import Tensor
from edged.engine.variants.convolution import pack_weights
from edged.model.graph import Conv, Dense, Float32
from edged.train.lowering import Lowered
from edged.train.norm import TrainedNorm

Buffer = Literal["parameters", "gradients", "averages"]
VALUE = 4  # bytes


@dataclass(frozen=True, eq=False)
class Parameter:
    """An array of an operator. `places`: where each of its values, row-major, lies among `count` on the device;
    the others are zero and stay so. `start`: where those begin in their buffer, in values.
    """

    operator: str
    role: str
    values: Float32
    places: NDArray[np.intp]
    count: int
    start: int = 0

    @property
    def name(self) -> str:
        return f"{self.operator}.{self.role}"

    def resident(self, buffer: Buffer) -> Resident:
        """Its part of the buffer."""
        return Resident(buffer, self.count * VALUE, self.start * VALUE)

    def put(self, values: Float32, memory: Float32) -> None:
        """Write `values`, of the operator's own layout, into what goes to the device."""
        memory[self.start + self.places] = values.reshape(-1)

    def take(self, memory: Float32) -> Float32:
        """The values in what came from the device, in the operator's own layout."""
        return memory[self.start + self.places].reshape(self.values.shape)


def weight_of(operator: Conv | Dense, lowered: Lowered) -> Parameter:
    """The weight of `operator`: what becomes of the numbers 1, 2 … in its place tells where each value goes."""
    numbers = np.arange(1, operator.weight.size + 1).reshape(operator.weight.shape)
    packed: NDArray[Any] = pack_weights(lowered.site(lowered.conv(operator, numbers))).reshape(-1)
    (there,) = np.nonzero(packed)
    places = np.empty(len(there), np.intp)
    places[packed[there] - 1] = there
    return Parameter(operator.name, "weight", operator.weight, places, packed.size)


def by_channel(operator: str, role: str, values: Float32, tensor: Tensor) -> Parameter:
    """One value for each channel of `tensor`."""
    return Parameter(operator, role, values, np.arange(len(values)), tensor.blocks * tensor.block)


@dataclass(frozen=True, eq=False)
class Store:
    """All that a network learns, one behind the other: `decayed` values that weight decay shrinks, then biases and
    norms up to `learnt`, then running statistics, `count` in all.
    """

    parameters: tuple[Parameter, ...]
    decayed: int
    learnt: int
    count: int

    def residents(self, buffer: Buffer) -> dict[str, dict[str, Resident]]:
        """Where each lies in `buffer`, by operator and role."""
        places: dict[str, dict[str, Resident]] = {}
        for one in self.parameters:
            places.setdefault(one.operator, {})[one.role] = one.resident(buffer)
        return places

    def pack(self, values: Mapping[str, Float32]) -> Float32:
        """What goes to the device, of the values by name."""
        memory = np.zeros(self.count, np.float32)
        for one in self.parameters:
            if one.name in values:
                one.put(values[one.name], memory)
        return memory

    def unpack(self, memory: Float32) -> dict[str, Float32]:
        """What `pack` was given; of a shorter memory, those that lie in it."""
        return {one.name: one.take(memory) for one in self.parameters if one.start + one.count <= len(memory)}


def store_of(lowered: Lowered) -> Store:
    """Where each array of the network lies."""
    weights, others, statistics = [], [], []
    for operator in lowered.graph.operators:
        target = lowered.tensors[operator.output]
        match operator:
            case Conv() | Dense():
                weights.append(weight_of(operator, lowered))
                others.append(by_channel(operator.name, "bias", operator.bias, target))
            case TrainedNorm():
                others.append(by_channel(operator.name, "scale", operator.scale, target))
                others.append(by_channel(operator.name, "offset", operator.offset, target))
                statistics.append(by_channel(operator.name, "mean", operator.mean, target))
                statistics.append(by_channel(operator.name, "variance", operator.variance, target))
    placed, ends, end = [], [], 0
    for kind in (weights, others, statistics):
        for one in kind:
            placed.append(replace(one, start=end))
            end += -(-one.count * VALUE // lowered.device.alignment) * lowered.device.alignment // VALUE
        ends.append(end)
    return Store(tuple(placed), *ends)
