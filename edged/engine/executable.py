"""A plan on its device: programs built, weights uploaded, arguments set once."""

import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edged.engine.device import Device
from edged.engine.host_step import HostStep
from edged.engine.launch import Argument, HostCall, Launch, PlanStep, Weights
from edged.engine.layout import Tensor
from edged.engine.memory import Arena
from edged.engine.opencl import cl, device_error, device_errors
from edged.engine.packed import MappedWeights, Source, WeightBuffers, pack
from edged.engine.planner import Plan
from edged.engine.programs import Programs

# With shared memory nothing is copied then (PoCL would otherwise keep two copies).
HOST_VISIBLE = cl.mem_flags.ALLOC_HOST_PTR


def shares_memory(device: Device, context: Any) -> bool:
    """Return whether the device is a CPU with shared virtual memory of fine grain (OpenCL 2.0, 5.6.1).

    Host and device use it without commands between them; it is coherent, hence slow on a GPU.
    """
    try:
        capabilities = context.devices[0].svm_capabilities if device.kind == "cpu" else 0
    except cl.Error:  # OpenCL 1.2 does not know the question
        return False
    return bool(capabilities & cl.device_svm_capabilities.FINE_GRAIN_BUFFER)


def shared_buffer(context: Any, nbytes: int) -> Any:
    """Return a buffer over shared memory, whose `hostbuf` is that memory, uint8 [nbytes]. Raises cl.Error."""
    memory: Any = cl.fsvm_empty(context, nbytes, np.dtype(np.uint8))
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR, hostbuf=memory)


class ArenaParts:
    """The parts of an arena's memory. All tensors of a slot get the same part."""

    def __init__(self, arena: Arena, memory: Any) -> None:
        self._offsets, self._memory = arena.offsets, memory
        self._slots = {start: memory.get_sub_region(start, size) for start, size in arena.slots.items()}

    def memory_of(self, tensor: Tensor) -> Any:
        """Return the memory of `tensor`, which has its size or more."""
        offset = self._offsets[tensor.name]
        return self._slots.get(offset) or self._memory.get_sub_region(offset, tensor.nbytes)


@dataclass(frozen=True, eq=False)
class KernelStep:
    """A kernel ready to be enqueued. `buffers` keeps its buffers alive; the kernel does not.

    `launch` is without its arguments, so that the host releases the weights.
    """

    launch: Launch
    kernel: Any
    buffers: tuple[Any, ...]
    device_name: str

    def __str__(self) -> str:
        return f"{self.launch.kernel} of {self.launch.operator}"

    def enqueue(self, queue: Any, frames: int, after: list[Any] | None = None) -> Any:
        """Enqueue the kernel for `frames` frames after the events `after`; return its own event."""
        size, group = self.launch.global_size(frames), self.launch.local_size
        try:
            return cl.enqueue_nd_range_kernel(queue, self.kernel, size, group, wait_for=after)
        except cl.Error as error:
            raise device_error(self.device_name, f"starting {self}", error) from error


Step = KernelStep | HostStep


class Executable:
    """Device memory and kernels of one plan.

    There is a buffer of `images` and of `outputs` for each job that may be in flight; the steps `forward[i]` lead
    from `images[i]` to `outputs[i]`. `arena`: the tensors between. `packed`: where the weights come from.
    `weights`: the buffers of all of them, on a CPU, which uses them where they are mapped.
    """

    def __init__(
        self,
        plan: Plan,
        context: Any,
        device: Device,
        programs: Programs,
        in_flight: int = 1,
        packed: Source = pack,
        queue: Any = None,
    ) -> None:
        """`queue`: the only one that will use this memory; it is freed once all its commands have ended.

        Images and outputs may be shared with the host then.
        """
        self._context = context
        self._device_name = device.name
        self._ends = plan.images, plan.output
        self._programs = programs
        self._packed = packed
        self.weight_bytes: dict[Weights, int] = {}  # their size on the device
        with device_errors(device.name, f"reserving {plan.arena.size} bytes for tensors"):
            self.arena = self._buffer(max(1, plan.arena.size))  # a single kernel has nothing between its two ends
            self._parts = ArenaParts(plan.arena, self.arena)
            shared = queue is not None and device.unified_memory and shares_memory(device, context)
            self.images = tuple(self._end(plan.images.nbytes, shared=shared) for _ in range(in_flight))
            self.outputs = tuple(self._end(plan.output.nbytes, shared=shared) for _ in range(in_flight))
        with device_errors(device.name, "uploading weights"):
            self.weights = self._buffers_in_place(device)
            self.forward = tuple(zip(*map(self._steps, plan.launches), strict=True))
        if queue is not None:  # a driver keeps buffers that are in use, not the host's memory below them
            weakref.finalize(self, _finish, queue).atexit = False

    @property
    def output(self) -> Any:
        """Return where the steps `forward[0]` write the output."""
        return self.outputs[0]

    def memory_of(self, tensor: Tensor) -> Any:
        """Return the memory of `tensor`: a part of the arena, or the output of `forward[0]`."""
        if tensor in self._ends:
            return self.output
        return self._parts.memory_of(tensor)

    def _steps(self, launch: PlanStep) -> tuple[Step, ...]:
        """Build the steps for each job in flight: shared, unless a step uses buffers of one job."""
        shared = {argument: self._place(argument) for argument in launch.arguments if argument not in self._ends}
        if len(shared) == len(launch.arguments):
            return (self._step(launch, shared),) * len(self.images)
        return tuple(
            self._step(launch, {**shared, **dict(zip(self._ends, own, strict=True))})
            for own in zip(self.images, self.outputs, strict=True)
        )

    def _step(self, launch: PlanStep, places: Mapping[Argument, Any]) -> Step:
        buffers = tuple(places[argument] for argument in launch.arguments)
        if isinstance(launch, HostCall):
            return HostStep(launch, buffers, self._device_name)
        launch, kernel = self._programs.fitting(launch)
        kernel.set_args(*buffers)
        whole = self.weights.buffers if self.weights else ()  # a part of a buffer does not keep its memory
        return KernelStep(replace(launch, arguments=()), kernel, (*buffers, *whole), self._device_name)

    def _place(self, argument: Argument) -> Any:
        match argument:
            case Tensor():
                return self.memory_of(argument)
            case Weights():
                array = self._packed(argument)
                self.weight_bytes[argument] = array.nbytes
                if self.weights:
                    return self.weights.memory_of(argument)
                flags = cl.mem_flags.READ_ONLY | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR
                return cl.Buffer(self._context, flags, hostbuf=array)

    def _buffers_in_place(self, device: Device) -> WeightBuffers | None:
        """Return buffers over weights that are mapped, if the device is a CPU, which can use them there."""
        if device.kind != "cpu" or not isinstance(self._packed, MappedWeights):
            return None
        return WeightBuffers(self._context, self._packed, int(self._context.devices[0].max_mem_alloc_size))

    def _end(self, nbytes: int, *, shared: bool) -> Any:
        """Return a buffer for images or outputs."""
        return shared_buffer(self._context, nbytes) if shared else self._buffer(nbytes)

    def _buffer(self, nbytes: int) -> Any:
        return cl.Buffer(self._context, cl.mem_flags.READ_WRITE | HOST_VISIBLE, nbytes)


def _finish(queue: Any) -> None:
    """Wait for all commands, also of jobs whose results were never read."""
    with suppress(cl.Error):  # reported to whom it concerns
        queue.finish()
