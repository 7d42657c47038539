"""A plan on its device: programs built, weights uploaded, arguments set once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from edged.engine.device import Device
from edged.engine.launch import Argument, Images, Launch
from edged.engine.layout import Tensor
from edged.engine.opencl import cl, device_errors
from edged.engine.planner import Plan
from edged.engine.programs import Programs


@dataclass(frozen=True, eq=False)
class Step:
    """A kernel ready to be enqueued. A kernel does not keep its buffers alive: `buffers` does."""

    launch: Launch
    kernel: Any
    buffers: tuple[Any, ...]


class Executable:
    """Device memory and kernels of one plan, with as many image buffers as jobs may be in flight."""

    def __init__(self, plan: Plan, context: Any, device: Device, programs: Programs, in_flight: int) -> None:
        self._context = context
        self._plan = plan
        with device_errors(device.name, f"reserving {plan.arena.size} bytes for the tensors"):
            self._arena = self._buffer(plan.arena.size)
            self.images = tuple(self._buffer(plan.images.nbytes) for _ in range(in_flight))
        first, *rest = plan.launches
        self.prepare = tuple(self._step(first, programs, images) for images in self.images)
        self.steps = tuple(self._step(launch, programs) for launch in rest)
        self.output = self._place(plan.output)

    def _step(self, launch: Launch, programs: Programs, images: Any = None) -> Step:
        kernel = programs.kernel(launch)
        buffers = tuple(self._place(argument, images) for argument in launch.arguments)
        kernel.set_args(*buffers)
        return Step(launch, kernel, buffers)

    def _place(self, argument: Argument, images: Any = None) -> Any:
        match argument:
            case Tensor():
                return self._arena.get_sub_region(self._plan.arena.offsets[argument.name], argument.nbytes)
            case Images():
                return images
            case np.ndarray():
                flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
                return cl.Buffer(self._context, flags, hostbuf=np.ascontiguousarray(argument))

    def _buffer(self, nbytes: int) -> Any:
        return cl.Buffer(self._context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, nbytes)
