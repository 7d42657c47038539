"""A device that trains: what stays on it from step to step, and its programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.binaries import Binaries
from edged.engine.device import Device, open_device
from edged.engine.executable import HOST_VISIBLE
from edged.engine.launch import Launch, Resident, Weights
from edged.engine.opencl import cl, device_errors
from edged.engine.packed import pack
from edged.engine.programs import Programs
from edged.paths import cache_directory

Array = NDArray[Any]


class Machine:
    """A device with a queue, its programs, and buffers by name. Raises DeviceError.

    `held` counts how often a buffer was put in place of another: arguments must be set anew then.
    """

    def __init__(self, device: Device, cache: Path | None = None) -> None:
        self.device = device
        self.held = 0
        with device_errors(device.name, "opening it"):
            self._context = cl.Context([open_device(device)])
            self.queue = cl.CommandQueue(self._context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self._programs = Programs(self._context, device, Binaries(cache or cache_directory() / "programs"))
        self._residents: dict[str, Any] = {}

    def hold(self, name: str, content: Array) -> None:
        """Upload `content` as the buffer `name`, in place of the one of that name."""
        content = np.ascontiguousarray(content)
        flags = cl.mem_flags.READ_WRITE | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR
        with device_errors(self.device.name, f"uploading {content.nbytes} bytes of {name}"):
            self.queue.finish()  # nothing may still read the old one
            self._residents[name] = cl.Buffer(self._context, flags, hostbuf=content)
        self.held += 1

    def write(self, name: str, content: Array) -> None:
        """Overwrite the buffer `name`, which is as large."""
        with device_errors(self.device.name, f"writing {name}"):
            cl.enqueue_copy(self.queue, self._residents[name], np.ascontiguousarray(content))

    def read(self, name: str, dtype: Any) -> Array:
        """What the buffer `name` holds, once all that was enqueued is done."""
        return self.content_of(self._residents[name], dtype)

    def content_of(self, buffer: Any, dtype: Any) -> Array:
        """What a buffer, or a part of one, holds."""
        with device_errors(self.device.name, f"reading {buffer.size} bytes"):
            content = np.empty(buffer.size // np.dtype(dtype).itemsize, dtype)
            cl.enqueue_copy(self.queue, content, buffer)
        return content

    def place(self, argument: Resident | Weights) -> Any:
        """Where a kernel finds it. A resident that begins its buffer is the whole of it."""
        if isinstance(argument, Resident):
            buffer = self._residents[argument.buffer]
            return buffer.get_sub_region(argument.offset, argument.nbytes) if argument.offset else buffer
        return cl.Buffer(
            self._context,
            cl.mem_flags.READ_ONLY | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR,
            hostbuf=pack(argument),
        )

    def reserve(self, nbytes: int) -> Any:
        """Memory for what lives during a step."""
        with device_errors(self.device.name, f"reserving {nbytes} bytes for tensors"):
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE | HOST_VISIBLE, max(1, nbytes))

    def kernels(self, launches: Sequence[Launch]) -> list[tuple[Launch, Any]]:
        """Each with a kernel object of its own, compiled now or before."""
        self._programs.prepare(launches)
        return [self._programs.fitting(launch) for launch in launches]
