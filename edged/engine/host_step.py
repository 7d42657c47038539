"""A step of a plan that the host computes, between kernels of the device."""

from dataclasses import dataclass
from typing import Any

from edged.engine.launch import HostCall
from edged.engine.layout import Tensor, image_of, memory_for, to_memory
from edged.engine.opencl import cl, device_errors
from edged.model.graph import Float32


@dataclass(frozen=True, eq=False)
class HostStep:
    """An operator ready to be computed. `buffers`: of the tensors that it reads, then of its output."""

    launch: HostCall
    buffers: tuple[Any, ...]
    device_name: str

    def __str__(self) -> str:
        return f"{self.launch.operator} on the host"

    def enqueue(self, queue: Any, frames: int, after: list[Any] | None = None) -> "HostEvent":
        """Wait for the inputs after the events `after`, compute, and enqueue the copy of the output."""
        call, (*sources, destination) = self.launch, self.buffers
        with device_errors(self.device_name, f"computing {self}"):
            read = cl.enqueue_marker(queue, wait_for=after)
            inputs = [_read(queue, *each, frames) for each in zip(call.inputs, sources, strict=True)]
            memory = to_memory(call.output, call.compute(*inputs))
            return HostEvent(read, cl.enqueue_copy(queue, destination, memory, is_blocking=True))


@dataclass(frozen=True)
class HostEvent:
    """The events of a step on the host: when it could begin, and when its output was written."""

    begun: Any
    written: Any

    def get_profiling_info(self, moment: Any) -> int:
        """Return the nanosecond of the device's clock when its inputs were ready (START), or its output (END)."""
        event = self.begun if moment == cl.profiling_info.START else self.written
        return int(event.get_profiling_info(cl.profiling_info.END))

    @property
    def command_execution_status(self) -> int:
        return int(self.written.command_execution_status)


def command_of(event: Any) -> Any:
    """Return the event of the device's last command in a step."""
    return event.written if isinstance(event, HostEvent) else event


def _read(queue: Any, tensor: Tensor, buffer: Any, frames: int) -> Float32:
    """Return the first frames of a tensor, [frames, channels, height, width], once they are computed."""
    memory = memory_for(tensor, frames)
    cl.enqueue_copy(queue, memory, buffer, is_blocking=True)
    return image_of(tensor, memory)
