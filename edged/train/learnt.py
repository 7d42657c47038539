"""What a network has learnt, on its device: parameters, what the optimizer remembers of them, their average."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.graph import Float32
from edged.train.machine import Machine
from edged.train.parameters import Store

Arrays = dict[str, NDArray[Any]]


class Learnt:
    """The buffers `parameters`, `gradients`, `moments` and, if it is `averaged`, `averages`, as at the start.

    moments: how many numbers the optimizer remembers of each parameter.
    """

    def __init__(self, store: Store, machine: Machine, moments: int, averaged: bool) -> None:
        self._store, self._machine, self._moments, self._averaged = store, machine, moments, averaged
        start = store.pack({one.name: one.values for one in store.parameters})
        machine.hold("parameters", start)
        machine.hold("gradients", np.zeros(store.learnt, np.float32))
        machine.hold("moments", np.zeros(max(1, moments * store.learnt), np.float32))
        if averaged:
            machine.hold("averages", start)

    def arrays(self) -> Arrays:
        """All of it by name, in the operators' own layouts."""
        return {name: array for buffer in self._read() for name, array in buffer.items()}

    def best(self) -> dict[str, Float32]:
        """What is evaluated and given: the averages, if there are any."""
        return self._store.unpack(self._machine.read("averages" if self._averaged else "parameters", np.float32))

    def restore(self, arrays: Mapping[str, NDArray[Any]], network: str) -> None:
        """Put back what `arrays` gave. Raises ModelError where it is of another network or optimizer."""
        for name, array in self.arrays().items():
            if name not in arrays or arrays[name].shape != array.shape:
                found = arrays[name].shape if name in arrays else "missing"
                raise ModelError(f"{network}: cannot go on: {name} is {found}, expected {array.shape}")
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


AVERAGE = "average of "


def _moment(index: int) -> str:
    return f"moment {index} of "


def _with_prefix(arrays: Mapping[str, Float32], prefix: str) -> Arrays:
    return {prefix + name: array for name, array in arrays.items()}


def _named(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
