"""A network on an OpenCL device: images in, scores out, the next upload while the device still computes."""

import itertools
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.config import Precision
from edged.engine.binaries import Binaries
from edged.engine.choice import Chooser
from edged.engine.device import Device, open_device
from edged.engine.executable import Executable
from edged.engine.job import Job, Pending
from edged.engine.opencl import cl, device_errors
from edged.engine.planner import RULES, make_plan
from edged.engine.programs import Programs
from edged.errors import DeviceError
from edged.model.graph import Graph
from edged.model.package import Input
from edged.paths import cache_directory

IN_FLIGHT = 2  # one job computes while the next is uploaded


class Runtime:
    """`graph` ready to run on `device`, for jobs of up to `batch` frames.

    precision, chooser: as for `make_plan`. cache: where compiled programs are kept; by default the user's cache.
    Raises DeviceError if the device or its compiler fails, ModelError if the network cannot be lowered.
    """

    def __init__(
        self,
        graph: Graph,
        wanted: Input,
        device: Device,
        *,
        batch: int = 1,
        precision: Precision = "fp32",
        chooser: Chooser = RULES,
        cache: Path | None = None,
        profile: bool = False,
    ) -> None:
        plan = make_plan(graph, wanted, device, batch, precision, chooser)
        self.device_name = device.name
        self.kernels = len(plan.launches)
        self._batch, self._shape, self._output = batch, (wanted.height, wanted.width, 3), plan.output
        self._profile = profile
        with device_errors(device.name, "opening it"):
            context = cl.Context([open_device(device)])
            profiling = cl.command_queue_properties.PROFILING_ENABLE
            self._compute = cl.CommandQueue(context, properties=profiling)
            self._upload = cl.CommandQueue(context, properties=profiling)
        programs = Programs(context, device, Binaries(cache or cache_directory() / "programs"))
        self._executable: Executable | None = Executable(plan, context, device, programs, IN_FLIGHT)
        programs.save()
        self._slots = itertools.cycle(range(IN_FLIGHT))
        self._slot_free: list[Any] = [None] * IN_FLIGHT
        self._submitting = threading.Lock()

    def submit(self, images: NDArray[np.uint8]) -> Pending:
        """Enqueue a job, uint8 RGB [1 … batch, height, width, 3], without waiting for it.

        The array must not be changed before the job's result is there. Raises DeviceError.
        """
        if images.dtype != np.uint8 or images.shape[1:] != self._shape or not 1 <= len(images) <= self._batch:
            raise ValueError(
                f"images: {images.dtype} {images.shape}; expected uint8 1…{self._batch} × {self._shape}"
            )
        with self._submitting, device_errors(self.device_name, "taking a job"):
            if self._executable is None:
                raise DeviceError(f"{self.device_name} was closed: open a new runtime")
            job = self._enqueue(self._executable, np.ascontiguousarray(images))
        return Pending(job, self.device_name)

    def _enqueue(self, executable: Executable, images: NDArray[np.uint8]) -> Job:
        """The upload in a queue of its own, once the kernel that read the slot's last images is through."""
        slot = next(self._slots)
        target, after = executable.images[slot], self._slot_free[slot]
        upload = cl.enqueue_copy(self._upload, target, images, is_blocking=False, wait_for=after)
        self._upload.flush()
        first, *others = executable.forward[slot]
        events = [first.enqueue(self._compute, len(images), after=[upload])]
        events += [step.enqueue(self._compute, len(images)) for step in others]
        self._slot_free[slot] = events[:1]
        memory = np.empty(self._output.nbytes // self._output.dtype.itemsize, self._output.dtype)
        download = cl.enqueue_copy(self._compute, memory, executable.output, is_blocking=False)
        self._compute.flush()
        kernels = tuple(zip(executable.forward[slot], events, strict=True))
        return Job(images, memory, self._output, upload, kernels, download, self._profile)

    def close(self) -> None:
        """Wait for what is running and give the device's memory back."""
        with self._submitting, device_errors(self.device_name, "finishing"):
            self._compute.finish()
            self._executable = None
