"""Transfers in memory that host and device share: nothing is copied but a job's own images into place.

What OpenCL calls mapping gives the host a pointer into a buffer, which the device may not touch until it is
unmapped (OpenCL 1.2, 5.4.2).
"""

import threading
import time
from contextlib import suppress
from typing import Any

import numpy as np

from edged.engine.opencl import cl
from edged.engine.transfer import Bytes
from edged.model.graph import Float32


class Mapped:
    """A slot whose buffer of images is the host's while no job is in it.

    It takes a job when the one before it is through, since the host reads the outputs where the device wrote them.
    All commands are in one queue, in order.
    """

    def __init__(self, queue: Any, images: Any, output: Any) -> None:
        self._queue = queue
        self._images, self._output = images, output
        self._free = self._map_images()
        self._last: MapOut | None = None

    def send(self, images: Bytes) -> "MapIn":
        """Waits for the slot's last job first."""
        if self._last:
            self._last.give_back(self._queue)
        pixels, ready = self._free
        ready.wait()
        start = time.perf_counter()
        pixels[: images.size] = images.reshape(-1)
        seconds = time.perf_counter() - start
        return MapIn(seconds, pixels.base.release(self._queue))

    def fetch(self, first: Any) -> "MapOut":
        """Behind the kernels; the images' buffer is the host's again by then."""
        self._last = MapOut(*self._map(self._output, cl.map_flags.READ, np.dtype(np.float32)))
        self._free = self._map_images()  # nobody waits for that now
        return self._last

    def _map_images(self) -> tuple[Any, Any]:
        return self._map(self._images, cl.map_flags.WRITE_INVALIDATE_REGION, np.dtype(np.uint8))

    def _map(self, buffer: Any, flags: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
        shape = (buffer.size // dtype.itemsize,)
        mapping, event = cl.enqueue_map_buffer(self._queue, buffer, flags, 0, shape, dtype, is_blocking=False)
        return mapping, event


class MapIn:
    """The host wrote into the buffer; giving it to the device is a command before the first kernel."""

    def __init__(self, host_s: float, unmapped: Any) -> None:
        self.host_s, self.command = host_s, unmapped
        self.events: list[Any] = []


class MapOut:
    """The outputs where the device wrote them, for whoever wants them first: who waits, or the slot's next job."""

    def __init__(self, mapping: Float32, ready: Any) -> None:
        self._mapping, self.command = mapping, ready
        self._values: Float32 | None = None
        self.host_s = 0.0
        self._taking = threading.Lock()

    def take(self) -> Float32:
        with self._taking:
            if self._values is None:
                self.command.wait()
                start = time.perf_counter()
                self._values = self._mapping.copy()
                self.host_s = time.perf_counter() - start
            return self._values

    def give_back(self, queue: Any) -> None:
        """Take the outputs, and let the device write there again."""
        with suppress(cl.Error):  # whoever waits for that job is told
            self.take()
        self._mapping.base.release(queue)  # type: ignore[union-attr]
