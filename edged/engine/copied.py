"""Transfers of a device with a memory of its own: copies."""

from typing import Any

import numpy as np

from edged.engine.opencl import cl
from edged.engine.transfer import Bytes
from edged.model.graph import Float32


class Copied:
    """A slot whose images are copied in a queue beside that of the kernels: the device can do both at once."""

    def __init__(self, compute: Any, upload: Any, images: Any, output: Any) -> None:
        self._compute, self._upload = compute, upload
        self._images, self._output = images, output
        self._read: list[Any] = []

    def send(self, images: Bytes) -> "CopyIn":
        """Once the kernel that read the slot's last images is through."""
        event = cl.enqueue_copy(self._upload, self._images, images, is_blocking=False, wait_for=self._read)
        self._upload.flush()
        return CopyIn(event)

    def fetch(self, first: Any) -> "CopyOut":
        """Behind the kernels, in their queue."""
        self._read = [first]
        values = np.empty(self._output.size // 4, np.float32)
        return CopyOut(values, cl.enqueue_copy(self._compute, values, self._output, is_blocking=False))


class CopyIn:
    """The copy is an event of another queue."""

    host_s = 0.0

    def __init__(self, event: Any) -> None:
        self.command = event
        self.events = [event]


class CopyOut:
    """The copy writes into memory of the job's own."""

    host_s = 0.0

    def __init__(self, values: Float32, event: Any) -> None:
        self._values, self.command = values, event

    def take(self) -> Float32:
        self.command.wait()
        return self._values
