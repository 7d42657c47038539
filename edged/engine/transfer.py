"""Transfer a job's images to the device and its outputs back.

By copies; where host and device have one memory, by mapping, which gives the host a pointer into a buffer that the
device may not use until it is unmapped (OpenCL 1.2, 5.4.2); and by no command at all where the host may use a
buffer whenever no kernel does: shared virtual memory of fine grain (OpenCL 2.0, 5.6.1), which CPUs have.
"""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edged.engine.opencl import cl
from edged.model.graph import Float32

Bytes = NDArray[np.uint8]


class Upload(Protocol):
    """A job's images during their upload. The first kernel waits for `events`.

    `command`: the event of the device's part, None if it has none; `host_s`: time of the host's part.
    """

    @property
    def events(self) -> list[Any]: ...
    @property
    def command(self) -> Any: ...
    @property
    def host_s(self) -> float: ...


class Download(Protocol):
    """A job's outputs during their download. `command`, `host_s`: as of an upload, once they were taken."""

    @property
    def command(self) -> Any: ...
    @property
    def host_s(self) -> float: ...
    def wait(self) -> Float32:
        """Wait for the outputs, in any thread, also repeatedly. Raises cl.Error."""


class TransferSlot(Protocol):
    """The input and output buffers of one job in flight.

    Call `send`, enqueue the kernels, call `fetch`, in turn.
    """

    def send(self, images: Bytes) -> Upload:
        """Enqueue the upload. `images` must not change until the job is done."""

    def fetch(self, read: Any, computed: Any) -> Download:
        """Enqueue the download. Events: of the kernel that reads the images, and of the last one."""


@dataclass(frozen=True, slots=True)
class CommandInterval:
    """Begin and end of a command on the device, in nanoseconds of its own clock."""

    start_ns: int
    end_ns: int

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) * 1e-9


def transfer_slot(compute: Any, upload: Any | None, images: Any, output: Any) -> TransferSlot:
    """Return the slot for these buffers. `upload`: the queue that copies; None where host and device share memory.

    A buffer over memory that the host may use at any time has it as its `hostbuf`.
    """
    if upload is not None:
        return CopiedSlot(compute, upload, images, output)
    if images.hostbuf is None:
        return MappedSlot(compute, images, output)
    return SharedSlot(images.hostbuf, output.hostbuf)


def ran(first: Any, last: Any = None) -> CommandInterval:
    """Return the times from the start of this event's command to its end, or to that of a later one."""
    begin, end = cl.profiling_info.START, cl.profiling_info.END  # `Event.profile` takes twice as long
    return CommandInterval(first.get_profiling_info(begin), (last or first).get_profiling_info(end))


class CopiedSlot:
    """A slot whose images are copied in a separate queue, so that the device can copy and compute at once."""

    def __init__(self, compute: Any, upload: Any, images: Any, output: Any) -> None:
        self._compute, self._upload = compute, upload
        self._images, self._output = images, output
        self._read: list[Any] = []

    def send(self, images: Bytes) -> "CopyIn":
        """Enqueue the upload, after the kernel that read the slot's last images."""
        event = cl.enqueue_copy(self._upload, self._images, images, is_blocking=False, wait_for=self._read)
        self._upload.flush()
        return CopyIn(event)

    def fetch(self, read: Any, computed: Any) -> "CopyOut":
        """Enqueue the download after the kernels, in their queue."""
        self._read = [read]
        values = np.empty(self._output.size // 4, np.float32)
        return CopyOut(values, cl.enqueue_copy(self._compute, values, self._output, is_blocking=False))


class CopyIn:
    """An upload by copy; its event is in another queue."""

    host_s = 0.0

    def __init__(self, event: Any) -> None:
        self.command = event
        self.events = [event]


class CopyOut:
    """A download by copy, into the job's own memory."""

    host_s = 0.0

    def __init__(self, values: Float32, event: Any) -> None:
        self._values, self.command = values, event

    def wait(self) -> Float32:
        self.command.wait()
        return self._values


class MappedSlot:
    """A slot whose image buffer belongs to the host while no job is in it.

    It accepts a job when the previous one has finished, since the host reads the outputs in place. All commands
    are in one queue, in order.
    """

    def __init__(self, queue: Any, images: Any, output: Any) -> None:
        self._queue = queue
        self._images, self._output = images, output
        self._free = self._map_images()
        self._last: OutputInPlace | None = None

    def send(self, images: Bytes) -> "MapIn":
        """Wait for the slot's last job, then enqueue the upload."""
        if self._last:
            self._last.take().base.release(self._queue)  # type: ignore[union-attr]
        pixels, ready = self._free
        ready.wait()
        start = time.perf_counter()
        pixels[: images.size] = images.reshape(-1)
        seconds = time.perf_counter() - start
        return MapIn(seconds, pixels.base.release(self._queue))

    def fetch(self, read: Any, computed: Any) -> "OutputInPlace":
        """Enqueue the mapping after the kernels; the image buffer belongs to the host again by then."""
        mapping, mapped = self._map(self._output, cl.map_flags.READ, np.dtype(np.float32))
        self._last = OutputInPlace(mapping, mapped, mapped)
        self._free = self._map_images()  # no thread waits for it now
        return self._last

    def _map_images(self) -> tuple[Any, Any]:
        return self._map(self._images, cl.map_flags.WRITE_INVALIDATE_REGION, np.dtype(np.uint8))

    def _map(self, buffer: Any, flags: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
        shape = (buffer.size // dtype.itemsize,)
        mapping, event = cl.enqueue_map_buffer(self._queue, buffer, flags, 0, shape, dtype, is_blocking=False)
        return mapping, event


class MapIn:
    """An upload by mapping: unmapping is a command before the first kernel."""

    def __init__(self, host_s: float, unmapped: Any) -> None:
        self.host_s, self.command = host_s, unmapped
        self.events: list[Any] = []


class SharedSlot:
    """A slot whose buffers the host may use whenever no kernel does.

    It accepts a job when the previous one has finished, since the host reads the outputs in place.
    """

    def __init__(self, images: Bytes, output: Bytes) -> None:
        self._images, self._output = images, output.view(np.float32)
        self._last: OutputInPlace | None = None

    def send(self, images: Bytes) -> "SharedIn":
        """Wait for the slot's last job, then write the images where the kernels read them."""
        if self._last:
            self._last.take()
        start = time.perf_counter()
        self._images[: images.size] = images.reshape(-1)
        return SharedIn(time.perf_counter() - start)

    def fetch(self, read: Any, computed: Any) -> "OutputInPlace":
        """Return the outputs, which are complete once the last kernel is."""
        self._last = OutputInPlace(self._output, computed)
        return self._last


@dataclass(frozen=True, slots=True)
class SharedIn:
    """An upload without a command: complete before the first kernel is enqueued."""

    host_s: float
    command: Any = None
    events: list[Any] = field(default_factory=list)


class OutputInPlace:
    """Outputs where the device wrote them, read by the waiting thread or by the slot's next job.

    ready: the event after which the host may read them. command: that of a download, if it is one.
    """

    def __init__(self, output: Float32, ready: Any, command: Any = None) -> None:
        self._output, self._ready, self.command = output, ready, command
        self._values: Float32 | None = None
        self.host_s = 0.0
        self._reading = threading.Lock()

    def wait(self) -> Float32:
        with self._reading:
            if self._values is None:
                self._ready.wait()
                start = time.perf_counter()
                self._values = self._output.copy()
                self.host_s = time.perf_counter() - start
            return self._values

    def take(self) -> Float32:
        """Read the outputs unless they were read, and return the memory that they were in."""
        with suppress(cl.Error):  # the thread that waits for that job gets the error
            self.wait()
        return self._output
