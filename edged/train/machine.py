"""A device for training: tensors that stay on it, and launches that are enqueued step by step."""

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.compile_apart import prepare_programs
from edged.engine.device import Device, open_device
from edged.engine.executable import HOST_VISIBLE, ArenaParts
from edged.engine.launch import Argument, Launch, Resident, Scalar, Weights
from edged.engine.layout import Tensor, image_of
from edged.engine.memory import arrange_for, check_indices, lifetimes
from edged.engine.opencl import cl, device_errors
from edged.engine.packed import pack
from edged.engine.programs import Binaries, Programs
from edged.system.paths import program_cache

Array = NDArray[Any]

Scalars = Mapping[str, np.generic]
AHEAD = 8  # runs that may be enqueued before the device has finished the first of them


class TrainingDevice:
    """A device with a queue, its programs, and buffers by name. Raises DeviceError.

    `held` counts replaced buffers: after each, arguments must be set again.
    """

    def __init__(self, device: Device, cache: Path | None = None) -> None:
        self.device = device
        self.held = 0
        with device_errors(device.name, "opening it"):
            self._context = cl.Context([open_device(device)])
            self.queue = cl.CommandQueue(self._context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self._programs = Programs(self._context, device, Binaries(cache or program_cache()))
        self._residents: dict[str, Any] = {}

    def upload(self, name: str, content: Array) -> None:
        """Upload `content` as the buffer `name`, and replace an existing one."""
        content = np.ascontiguousarray(content)
        flags = cl.mem_flags.READ_WRITE | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR
        with device_errors(self.device.name, f"uploading {content.nbytes} bytes of {name}"):
            self.queue.finish()  # a kernel may still read the old one
            self._residents[name] = cl.Buffer(self._context, flags, hostbuf=content)
        self.held += 1

    def write(self, name: str, content: Array) -> None:
        """Overwrite the buffer `name`, which has the same size."""
        with device_errors(self.device.name, f"writing {name}"):
            cl.enqueue_copy(self.queue, self._residents[name], np.ascontiguousarray(content))

    def read(self, name: str, dtype: Any) -> Array:
        """Return the content of the buffer `name`, after everything enqueued has finished."""
        return self.content_of(self._residents[name], dtype)

    def content_of(self, buffer: Any, dtype: Any) -> Array:
        """Return the content of a buffer, or of a part of one."""
        with device_errors(self.device.name, f"reading {buffer.size} bytes"):
            content = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
            cl.enqueue_copy(self.queue, content, buffer)
        return content

    def place(self, argument: Resident | Weights) -> Any:
        """Return the memory of an argument. A resident that begins its buffer is the whole of it."""
        if isinstance(argument, Resident):
            buffer = self._residents[argument.buffer]
            return buffer.get_sub_region(argument.offset, argument.nbytes) if argument.offset else buffer
        return cl.Buffer(
            self._context,
            cl.mem_flags.READ_ONLY | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR,
            hostbuf=pack(argument),
        )

    def reserve(self, nbytes: int) -> Any:
        """Allocate memory for tensors that live during a step."""
        with device_errors(self.device.name, f"reserving {nbytes} bytes for tensors"):
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE | HOST_VISIBLE, max(1, nbytes))

    def kernels(self, launches: Sequence[Launch]) -> list[tuple[Launch, Any]]:
        """Return each launch with a new kernel object, compiled now or before."""
        prepare_programs(self._programs, launches)
        return [self._programs.fitting(launch) for launch in launches]


class LaunchQueue:
    """A queue of `launches` on their device. Raises DeviceError, ModelError for a tensor no kernel can index."""

    def __init__(self, name: str, launches: Sequence[Launch], machine: TrainingDevice) -> None:
        check_indices(name, launches)
        self._machine = machine
        arena = arrange_for(machine.device, lifetimes(launches))
        self._arena = ArenaParts(arena, machine.reserve(arena.size))
        self._kernels = machine.kernels(launches)
        self._constants: dict[Argument, Any] = {}
        self._places: list[Any] = []  # OpenCL kernels do not keep their buffers alive
        self._numbers: list[tuple[Any, int, str]] = []
        self._bound_to = -1
        self._running: deque[Any] = deque()
        self._sizes = [launch.global_size(launch.frames) for launch, _ in self._kernels]

    def enqueue(self, scalars: Scalars) -> list[Any]:
        """Enqueue all launches with these numbers; return their events. Waits only for runs enqueued long ago."""
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
        """Return the names for the events of `enqueue`."""
        return [f"{launch.kernel} of {launch.operator}" for launch, _ in self._kernels]

    def image(self, tensor: Tensor) -> NDArray[np.float32]:
        """Return the content of `tensor` after the last run, [frames, channels, height, width]."""
        content = self._machine.content_of(self._arena.memory_of(tensor), tensor.dtype)
        return image_of(tensor, content[: tensor.nbytes // tensor.dtype.itemsize])

    def _bind(self) -> None:
        """Set the constant arguments, unless they are set already."""
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
                return self._arena.memory_of(argument)
            case Resident():
                return self._machine.place(argument)
            case Weights():
                if argument not in self._constants:
                    self._constants[argument] = self._machine.place(argument)
                return self._constants[argument]
        raise TypeError(f"{argument} has no place in a training step")
