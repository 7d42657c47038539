"""The parameters of a network on its device: one buffer, with the optimizer's state and the moving average."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.gradients.grouped_conv import is_depthwise
from edged.engine.launch import Resident
from edged.engine.layout import Tensor
from edged.engine.variants.conv_depthwise import pack_depthwise
from edged.engine.variants.convolution import pack_weights
from edged.errors import ModelError
from edged.model.graph import Conv, Dense, Float32
from edged.train.lowering import Lowered
from edged.train.machine import TrainingDevice
from edged.train.training_operators import TrainedNorm

Buffer = Literal["parameters", "gradients", "averages"]
VALUE = 4  # bytes

Arrays = dict[str, NDArray[Any]]
AVERAGE = "average of "


@dataclass(frozen=True, eq=False)
class Parameter:
    """An array of an operator on the device.

    `indices`: the index of each of its values, row-major, among `count` on the device; the others stay zero.
    `start`: where those begin in their buffer, in values.
    """

    operator: str
    role: str
    values: Float32
    indices: NDArray[np.intp]
    count: int
    start: int = 0

    @property
    def name(self) -> str:
        return f"{self.operator}.{self.role}"

    def resident(self, buffer: Buffer) -> Resident:
        """Return its part of the buffer."""
        return Resident(buffer, self.count * VALUE, self.start * VALUE)

    def pack(self, values: Float32, memory: Float32) -> None:
        """Convert `values` from the operator's layout to the device's."""
        memory[self.start + self.indices] = values.reshape(-1)

    def unpack(self, memory: Float32) -> Float32:
        """Convert values from the device's layout to the operator's."""
        return memory[self.start + self.indices].reshape(self.values.shape)


def weight_of(operator: Conv | Dense, lowered: Lowered) -> Parameter:
    """Return the weight of `operator`. Packing the numbers 1, 2 … in its place shows where each value goes."""
    numbers = np.arange(1, operator.weight.size + 1).reshape(operator.weight.shape)
    site = lowered.site(lowered.conv(operator, numbers))
    pack = pack_depthwise if is_depthwise(site) else pack_weights
    packed: NDArray[Any] = pack(site).reshape(-1)
    (there,) = np.nonzero(packed)
    indices = np.empty(len(there), np.intp)
    indices[packed[there] - 1] = there
    return Parameter(operator.name, "weight", operator.weight, indices, packed.size)


def by_channel(operator: str, role: str, values: Float32, tensor: Tensor) -> Parameter:
    """Return a parameter with one value for each channel of `tensor`."""
    return Parameter(operator, role, values, np.arange(len(values)), tensor.blocks * tensor.block)


@dataclass(frozen=True, eq=False)
class ParameterStore:
    """All parameters of a network in one buffer.

    First `decayed` values that weight decay shrinks, then biases and norms up to `learnt`, then running
    statistics, `count` in all.
    """

    parameters: tuple[Parameter, ...]
    decayed: int
    learnt: int
    count: int

    def residents(self, buffer: Buffer) -> dict[str, dict[str, Resident]]:
        """Return the place of each in `buffer`, by operator and role."""
        resident: dict[str, dict[str, Resident]] = {}
        for one in self.parameters:
            resident.setdefault(one.operator, {})[one.role] = one.resident(buffer)
        return resident

    def pack(self, values: Mapping[str, Float32]) -> Float32:
        """Convert values by name to the device's buffer."""
        memory = np.zeros(self.count, np.float32)
        for one in self.parameters:
            if one.name in values:
                one.pack(values[one.name], memory)
        return memory

    def unpack(self, memory: Float32) -> dict[str, Float32]:
        """Invert `pack`; of a shorter buffer, return the values that are in it."""
        return {one.name: one.unpack(memory) for one in self.parameters if one.start + one.count <= len(memory)}


def store_of(lowered: Lowered) -> ParameterStore:
    """Return the store of all arrays of the network."""
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
            end += ceil_div(one.count * VALUE, lowered.device.alignment) * lowered.device.alignment // VALUE
        ends.append(end)
    return ParameterStore(tuple(placed), *ends)


class TrainedState:
    """The buffers `parameters`, `gradients`, `moments` and, if it is `averaged`, `averages`, as at the start.

    moments: how many numbers the optimizer stores for each parameter.
    """

    def __init__(self, store: ParameterStore, machine: TrainingDevice, moments: int, averaged: bool) -> None:
        self._store, self._machine, self._moments, self._averaged = store, machine, moments, averaged
        start = store.pack({one.name: one.values for one in store.parameters})
        machine.upload("parameters", start)
        machine.upload("gradients", np.zeros(store.learnt, np.float32))
        machine.upload("moments", np.zeros(max(1, moments * store.learnt), np.float32))
        if averaged:
            machine.upload("averages", start)

    def arrays(self) -> Arrays:
        """Return everything by name, in the operators' own layouts."""
        return {name: array for buffer in self._read() for name, array in buffer.items()}

    def best(self) -> dict[str, Float32]:
        """Return the buffer that is evaluated and exported: the averages, if there are any."""
        return self._store.unpack(self._machine.read("averages" if self._averaged else "parameters", np.float32))

    def restore(self, arrays: Mapping[str, NDArray[Any]], network: str) -> None:
        """Restore the result of `arrays`. Raises ModelError if it is of another network or optimizer."""
        for name, array in self.arrays().items():
            if name not in arrays or arrays[name].shape != array.shape:
                found = arrays[name].shape if name in arrays else "missing"
                raise ModelError(f"{network}: cannot continue: {name} is {found}, expected {array.shape}")
        self._machine.write("parameters", self._store.pack(arrays))
        if self._moments:
            packed = [self._store.pack(_named(arrays, _moment(index))) for index in range(self._moments)]
            self._machine.write("moments", np.concatenate([moment[: self._store.learnt] for moment in packed]))
        if self._averaged:
            self._machine.write("averages", self._store.pack(_named(arrays, AVERAGE)))

    def _read(self) -> Iterator[Arrays]:
        unpack, read, count = self._store.unpack, self._machine.read, self._store.learnt
        yield dict(unpack(read("parameters", np.float32)))
        moments = read("moments", np.float32)
        for index in range(self._moments):
            yield _with_prefix(unpack(moments[index * count : (index + 1) * count]), _moment(index))
        if self._averaged:
            yield _with_prefix(unpack(read("averages", np.float32)), AVERAGE)


def _moment(index: int) -> str:
    return f"moment {index} of "


def _with_prefix(arrays: Mapping[str, Float32], prefix: str) -> Arrays:
    return {prefix + name: array for name, array in arrays.items()}


def _named(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
