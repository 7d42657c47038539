"""A plan on its device: programs built, weights uploaded, arguments set once."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edged.engine.device import Device
from edged.engine.launch import Argument, Images, Launch, Weights
from edged.engine.layout import Tensor
from edged.engine.opencl import cl, device_error, device_errors
from edged.engine.planner import Plan
from edged.engine.programs import Programs

# Where host and device share their memory there is nothing to copy then (PoCL would keep two copies without it).
HOST_VISIBLE = cl.mem_flags.ALLOC_HOST_PTR


@dataclass(frozen=True, eq=False)
class Step:
    """A kernel ready to be enqueued. It does not keep its buffers alive: `buffers` does.

    `launch` is without its arguments, so that the weights are no longer held by the host.
    """

    launch: Launch
    kernel: Any
    buffers: tuple[Any, ...]
    device_name: str

    def __str__(self) -> str:
        return f"{self.launch.kernel} of {self.launch.operator}"

    def enqueue(self, queue: Any, frames: int, after: list[Any] | None = None) -> Any:
        """Start the kernel for `frames` frames once the events `after` have come; return its own."""
        size, group = self.launch.global_size(frames), self.launch.local_size
        try:
            return cl.enqueue_nd_range_kernel(queue, self.kernel, size, group, wait_for=after)
        except cl.Error as error:
            raise device_error(self.device_name, f"starting {self}", error) from error


class Executable:
    """Device memory and kernels of one plan.

    `images` are as many buffers as jobs may be in flight, and `forward[i]` the steps that start from `images[i]`.
    """

    def __init__(self, plan: Plan, context: Any, device: Device, programs: Programs, in_flight: int = 1) -> None:
        self._context = context
        self._device_name = device.name
        self._offsets = plan.arena.offsets
        self._programs = programs
        with device_errors(device.name, f"reserving {plan.arena.size} bytes for tensors"):
            self._arena = self._buffer(plan.arena.size)
            self.images = tuple(self._buffer(plan.images.nbytes) for _ in range(in_flight))
        with device_errors(device.name, "uploading weights"):
            self.forward = tuple(zip(*map(self._steps, plan.launches), strict=True))
            self.output = self.memory_of(plan.output)

    def memory_of(self, tensor: Tensor) -> Any:
        """The part of the arena where `tensor` lives."""
        return self._arena.get_sub_region(self._offsets[tensor.name], tensor.nbytes)

    def _steps(self, launch: Launch) -> tuple[Step, ...]:
        """One for each job in flight: the same one, unless it reads the job's images."""
        if any(isinstance(argument, Images) for argument in launch.arguments):
            return tuple(self._step(launch, images) for images in self.images)
        return (self._step(launch, self.images[0]),) * len(self.images)

    def _step(self, launch: Launch, images: Any) -> Step:
        kernel = self._programs.kernel(launch)
        buffers = tuple(self._place(argument, images) for argument in launch.arguments)
        kernel.set_args(*buffers)
        return Step(replace(launch, arguments=()), kernel, buffers, self._device_name)

    def _place(self, argument: Argument, images: Any) -> Any:
        match argument:
            case Tensor():
                return self.memory_of(argument)
            case Images():
                return images
            case Weights():
                flags = cl.mem_flags.READ_ONLY | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR
                return cl.Buffer(
                    self._context, flags, hostbuf=np.ascontiguousarray(argument.pack(), argument.dtype)
                )

    def _buffer(self, nbytes: int) -> Any:
        return cl.Buffer(self._context, cl.mem_flags.READ_WRITE | HOST_VISIBLE, nbytes)
