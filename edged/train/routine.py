"""Launches that are enqueued again and again: tensors by lifetimes, numbers given each time."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.arrays import image_of
from edged.engine.launch import Argument, Launch, Resident, Scalar, Weights
from edged.engine.layout import Tensor
from edged.engine.memory import arrange, check_indices, lifetimes
from edged.engine.opencl import cl, device_errors
from edged.train.machine import Machine

Scalars = Mapping[str, np.generic]

AHEAD = 8  # runs that may be enqueued before the device is through with the first of them


class Routine:
    """`launches` on their device. Raises DeviceError, and ModelError for a tensor that no kernel can index."""

    def __init__(self, name: str, launches: Sequence[Launch], machine: Machine) -> None:
        check_indices(name, launches)
        self._machine = machine
        plan = arrange(lifetimes(launches), machine.device.alignment)
        self._offsets, self._arena = plan.offsets, machine.reserve(plan.size)
        self._kernels = machine.kernels(launches)
        self._constants: dict[Argument, Any] = {}
        self._places: list[Any] = []  # OpenCL kernels do not keep their buffers alive
        self._numbers: list[tuple[Any, int, str]] = []
        self._bound_to = -1
        self._running: deque[Any] = deque()
        self._sizes = [launch.global_size(launch.frames) for launch, _ in self._kernels]

    def enqueue(self, scalars: Scalars) -> list[Any]:
        """Start all launches, with these numbers; their events. Waits only for what was enqueued long ago."""
        with device_errors(self._machine.device.name, "training"):
            self._bind()
            for kernel, index, name in self._numbers:
                kernel.set_arg(index, scalars[name])
            events = [
                cl.enqueue_nd_range_kernel(self._machine.queue, kernel, size, launch.local_size, launch.offset)
                for (launch, kernel), size in zip(self._kernels, self._sizes, strict=True)
            ]
            self._machine.queue.flush()
            self._running.append(events[-1])
            if len(self._running) > AHEAD:
                self._running.popleft().wait()
        return events

    @property
    def names(self) -> list[str]:
        """What the events of `enqueue` are of."""
        return [f"{launch.kernel} of {launch.operator}" for launch, _ in self._kernels]

    def image(self, tensor: Tensor) -> NDArray[np.float32]:
        """What the last run left in `tensor`, [frames, channels, height, width]."""
        return image_of(tensor, self._machine.content_of(self._memory_of(tensor), tensor.dtype))

    def _bind(self) -> None:
        """Set the arguments that stay, unless they are set already."""
        if self._bound_to == self._machine.held:
            return
        self._places, self._numbers = [], []
        for launch, kernel in self._kernels:
            for index, argument in enumerate(launch.arguments):
                if isinstance(argument, Scalar):
                    self._numbers.append((kernel, index, argument.name))
                else:
                    self._places.append(self._place(argument))
                    kernel.set_arg(index, self._places[-1])
        self._bound_to = self._machine.held

    def _place(self, argument: Argument) -> Any:
        match argument:
            case Tensor():
                return self._memory_of(argument)
            case Resident():
                return self._machine.place(argument)
            case Weights():
                if argument not in self._constants:
                    self._constants[argument] = self._machine.place(argument)
                return self._constants[argument]
        raise TypeError(f"{argument} has no place in a training step")

    def _memory_of(self, tensor: Tensor) -> Any:
        return self._arena.get_sub_region(self._offsets[tensor.name], tensor.nbytes)
