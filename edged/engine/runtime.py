"""A network on an OpenCL device: images in, scores out, the next upload while the device still computes."""

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.config import Precision
from edged.engine.binaries import Binaries
from edged.engine.choice import Chooser
from edged.engine.copied import Copied
from edged.engine.device import Device, open_device
from edged.engine.executable import Executable, Step
from edged.engine.job import Job, Pending
from edged.engine.mapped import Mapped
from edged.engine.memory import check_indices
from edged.engine.opencl import cl, device_errors
from edged.engine.packed import packed_weights
from edged.engine.planner import RULES, Plan, make_plan
from edged.engine.programs import Programs
from edged.engine.transfer import Slot
from edged.errors import DeviceError
from edged.model.graph import Graph
from edged.model.package import Input
from edged.paths import cache_directory

Steps = tuple[Step, ...]


class Runtime:
    """`graph` ready to run on `device`, for jobs of up to `batch` frames.

    precision, chooser: as for `make_plan`. in_flight: jobs that may be under way at once, so that one computes
    while the next is uploaded. model: the SHA-256 of the graph's weights, if they are to be kept packed for the
    next start. cache: where compiled programs are kept, and `weights` beside it; by default the user's cache.
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
        in_flight: int = 2,
        model: str | None = None,
        cache: Path | None = None,
        profile: bool = False,
    ) -> None:
        folder = cache or cache_directory() / "programs"

        def plan_of(graph: Graph) -> Plan:
            return make_plan(graph, wanted, device, batch, precision, chooser)

        plan = plan_of(graph)
        check_indices(graph.name, plan.launches)
        plan, packed = packed_weights(
            folder.with_name("weights"), model, wanted, plan, lambda: plan_of(graph.checked())
        )
        self.device_name = device.name
        self.kernels = len(plan.launches)
        self._batch, self._shape, self._output = batch, (wanted.height, wanted.width, 3), plan.output
        self._profile = profile
        with device_errors(device.name, "opening it"):
            context = cl.Context([open_device(device)])
            profiling = cl.command_queue_properties.PROFILING_ENABLE
            self._compute = cl.CommandQueue(context, properties=profiling)
            upload = None if device.unified_memory else cl.CommandQueue(context, properties=profiling)
        programs = Programs(context, device, Binaries(folder))
        programs.prepare(plan.launches)
        executable = Executable(plan, context, device, programs, in_flight, packed)
        with device_errors(device.name, "mapping memory"):
            slots = self._make_slots(executable, upload)
        self._slots: Iterator[tuple[Slot, Steps]] = itertools.cycle(zip(slots, executable.forward, strict=True))
        self._closed = False
        self._submitting = threading.Lock()

    def _make_slots(self, executable: Executable, upload: cl.CommandQueue | None) -> list[Slot]:
        """One for each job in flight: copied by the queue `upload`, or mapped where there is none."""
        ends = zip(executable.images, executable.outputs, strict=True)
        return [Copied(self._compute, upload, *each) if upload else Mapped(self._compute, *each) for each in ends]

    def submit(self, images: NDArray[np.uint8]) -> Pending:
        """Enqueue a job, uint8 RGB [1 … batch, height, width, 3], without waiting for it.

        Where `in_flight` jobs are under way it may wait for the oldest of them. The array must not be changed
        before the job's result is there. Raises DeviceError.
        """
        if images.dtype != np.uint8 or images.shape[1:] != self._shape or not 1 <= len(images) <= self._batch:
            raise ValueError(
                f"images: {images.dtype} {images.shape}; expected uint8 1…{self._batch} × {self._shape}"
            )
        with self._submitting, device_errors(self.device_name, "taking a job"):
            if self._closed:
                raise DeviceError(f"{self.device_name} was closed: open a new runtime")
            job = self._enqueue(np.ascontiguousarray(images))
        return Pending(job, self.device_name)

    def _enqueue(self, images: NDArray[np.uint8]) -> Job:
        slot, (first, *others) = next(self._slots)
        upload = slot.send(images)
        events = [first.enqueue(self._compute, len(images), after=upload.events)]
        events += [step.enqueue(self._compute, len(images)) for step in others]
        download = slot.fetch(events[0])
        self._compute.flush()
        kernels = tuple(zip((first, *others), events, strict=True))
        return Job(images, self._output, upload, kernels, download, self._profile)

    def close(self) -> None:
        """Wait for what is running and give the device's memory back."""
        with self._submitting, device_errors(self.device_name, "finishing"):
            self._compute.finish()
            self._closed = True
            self._slots = iter(())
