"""A network on an OpenCL device: images in, scores out; the next upload overlaps the computation."""

import itertools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.config import Precision
from edged.engine.compile_apart import prepare_programs
from edged.engine.device import Device, open_device
from edged.engine.executable import Executable
from edged.engine.host_step import command_of
from edged.engine.job import DeviceJob, FeatureReader, PendingDeviceJob
from edged.engine.launch import Images, kernels_of
from edged.engine.launch_cost import launch_costs
from edged.engine.layout import Elements, Tensor, image_of, memory_for, to_memory
from edged.engine.memory import check_indices
from edged.engine.one_launch import AnyStep, Composer, FormChoice, LaunchForm
from edged.engine.opencl import cl, device_errors
from edged.engine.packed import Source, packed_weights
from edged.engine.peaks import cached_peaks
from edged.engine.planner import RULES, Plan, make_plan
from edged.engine.programs import Binaries, Programs
from edged.engine.proofs import proof_key
from edged.engine.selection import Chooser
from edged.engine.transfer import TransferSlot, transfer_slot
from edged.errors import DeviceError
from edged.model.graph import Float32
from edged.model.model_part import ModelPart
from edged.system.paths import program_cache

log = logging.getLogger("edged.engine")

Forward = tuple[tuple[AnyStep, ...], ...]  # the steps of a job, for each slot


class Runtime:
    """`part` of a network ready to run on `device`, for jobs of up to `batch` frames.

    batch, precision, chooser: see `make_plan`. in_flight: jobs that may be under way at once, so that one computes
    while the next is uploaded. cache: where compiled programs are kept, and `weights` beside it; by default the
    user's cache. Raises DeviceError if the device or its compiler fails, ModelError if the network cannot be
    lowered.
    """

    def __init__(
        self,
        part: ModelPart,
        device: Device,
        *,
        batch: int = 1,
        precision: Precision = "fp32",
        chooser: Chooser = RULES,
        in_flight: int = 2,
        cache: Path | None = None,
    ) -> None:
        folder = cache or program_cache()
        plan_of = partial(make_plan, device=device, batch=batch, precision=precision, chooser=chooser)
        plan, packed = _planned(part, plan_of, folder.with_name("weights"), in_memory=device.kind == "cpu")
        self._device, self.device_name = device, device.name
        self.has_cpu_threads = device.kind == "cpu"
        self.proof_key = proof_key(plan, part, device)
        self.kernels = len(plan.launches)
        self._input, self._output, self._joined = plan.images, plan.output, plan.joined
        context, self._compute, upload = _open(device)
        programs = Programs(context, device, Binaries(folder))
        prepare_programs(programs, kernels_of(plan.launches))
        executable = Executable(plan, context, device, programs, in_flight, packed, self._compute)
        self.costs = launch_costs(part.graph, plan, executable.weight_bytes.__getitem__)
        self._features = FeatureReader(plan, executable, self._compute)
        self._executable = executable
        self._forward: dict[LaunchForm, Forward] = {LaunchForm.BY_LAYER: executable.forward}
        self._composer = Composer(plan, executable, context, device, programs)
        self._forms = FormChoice()
        self._one_launches = 0
        self._slots = self._make_slots(executable, upload)
        self._closed = False
        self._submitting = threading.Lock()

    def _make_slots(
        self, executable: Executable, upload: cl.CommandQueue | None
    ) -> Iterator[tuple[int, TransferSlot]]:
        """Return a slot with its number for each job in flight, in turn, for ever. Raises DeviceError."""
        ends = zip(executable.images, executable.outputs, strict=True)
        with device_errors(self.device_name, "mapping memory"):
            slots = [transfer_slot(self._compute, upload, *each) for each in ends]
        return itertools.cycle(enumerate(slots))

    def compose(self, *, apart: bool = False) -> bool:
        """Compile the plan into one launch where that is possible; from then on jobs take the faster form.

        Returns whether there are two forms now: one launch must give the same answer, bit by bit. Any thread may
        call it. `apart`: compile in another process, while jobs go on. Raises DeviceError if the driver rejects
        the source.
        """
        if not self._composer.is_possible:
            return False
        composed = self._composer.forward(apart=apart)
        shape, dtype = self._wanted
        frames = np.random.default_rng(0).integers(0, 256, (1, *shape)).astype(dtype)
        by_layer, at_once = (
            self._submit(frames, forward).wait().outputs
            for forward in (self._forward[LaunchForm.BY_LAYER], composed)
        )
        if not np.array_equal(by_layer, at_once, equal_nan=True):
            log.warning("%s answers otherwise in one launch than layer by layer, which it keeps", self.device_name)
            return False
        self._forward[LaunchForm.ONE_LAUNCH] = composed
        return True

    def one_launches(self) -> tuple[int, int]:
        """Return the jobs that one launch computed, and how often a work-group gave up its wait for another.

        Waits for the jobs in progress. Raises DeviceError.
        """
        with self._submitting, device_errors(self.device_name, "reading the counters of one launch"):
            return self._one_launches, self._composer.waits_given_up(self._compute)

    def submit(
        self, frames: NDArray[np.uint8] | Float32, *, features: bool = False, by_layer: bool = False
    ) -> PendingDeviceJob:
        """Enqueue a job, uint8 RGB [1 … batch, height, width, 3], without waiting for it.

        A part behind a cut takes float32 [1 … batch, channels, height, width]. If `in_flight` jobs are in
        progress, it may wait for the oldest of them. The array must not be changed before the job's result has
        arrived. `features`: read those back too. `by_layer`: launch each layer by itself, so that each is timed.
        Raises DeviceError.
        """
        shape, dtype = self._wanted
        if frames.dtype != dtype or frames.shape[1:] != shape or not 1 <= len(frames) <= self._input.frames:
            raise ValueError(
                f"frames: {frames.dtype} {frames.shape}; expected {dtype} 1…{self._input.frames} × {shape}"
            )
        if by_layer or LaunchForm.ONE_LAUNCH not in self._forward:
            return self._submit(frames, self._forward[LaunchForm.BY_LAYER], features=features)
        form = self._forms.next(len(frames))
        self._one_launches += form is LaunchForm.ONE_LAUNCH
        add = partial(self._forms.add, form, len(frames))
        return self._submit(frames, self._forward[form], features=features, on_done=add)

    def _submit(
        self,
        frames: NDArray[np.uint8] | Float32,
        forward: Forward,
        *,
        features: bool = False,
        on_done: Callable[[float], None] = lambda seconds: None,
    ) -> PendingDeviceJob:
        with self._submitting, device_errors(self.device_name, "taking a job"):
            if self._closed:
                raise DeviceError(f"{self.device_name} was closed: open a new runtime")
            job = self._enqueue(
                len(frames), self._as_uploaded(frames), forward, features=features, on_done=on_done
            )
        return PendingDeviceJob(job, self.device_name)

    def observe(
        self, frames: NDArray[np.uint8] | Float32, written: Mapping[str, Tensor], last: int
    ) -> tuple[Float32, dict[str, Float32]]:
        """Compute a job, and copy the output of each operator of `written` before it is overwritten.

        `written`: the tensor of the plan, by the operator's name. `last`: how many of the job's last frames are
        copied. Returns the job's outputs, and each tensor as float32 [last, channels, height, width]. Raises
        DeviceError, and MemoryError if the host has no memory for the copies.
        """
        memory = {operator: memory_for(tensor, last) for operator, tensor in written.items()}
        copies: dict[str, tuple[Tensor, Elements]] = {}

        def copy(step: AnyStep) -> None:
            """Copy the output; a later kernel of the same operator replaces it by its own."""
            if tensor := written.get(step.launch.operator):
                begin, here = (len(frames) - last) * tensor.nbytes // tensor.frames, memory[step.launch.operator]
                source = self._executable.memory_of(tensor)
                cl.enqueue_copy(self._compute, here, source, src_offset=begin, is_blocking=False)
                copies[tensor.name] = tensor, here

        with self._submitting, device_errors(self.device_name, "computing layer by layer"):
            forward = self._forward[LaunchForm.BY_LAYER]
            job = self._enqueue(len(frames), self._as_uploaded(frames), forward, features=False, after_each=copy)
        outputs = PendingDeviceJob(job, self.device_name).wait().outputs
        tensors = {name: image_of(tensor, here) for name, (tensor, here) in copies.items()}
        for name, inputs in self._joined.items():
            if set(inputs) <= set(tensors):
                tensors[name] = np.concatenate([tensors[each] for each in inputs], axis=1)
        return outputs, tensors

    @cached_property
    def _wanted(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and type of one frame."""
        match self._input:
            case Images(height=height, width=width):
                return (height, width, 3), np.dtype(np.uint8)
            case Tensor(channels=channels, height=height, width=width):
                return (channels, height, width), np.dtype(np.float32)

    def _as_uploaded(self, frames: NDArray[Any]) -> NDArray[np.uint8]:
        if isinstance(self._input, Tensor):
            return to_memory(self._input, frames).view(np.uint8)
        return np.ascontiguousarray(frames)

    def _enqueue(
        self,
        frames: int,
        data: NDArray[np.uint8],
        forward: Forward,
        *,
        features: bool,
        after_each: Callable[[AnyStep], None] = lambda step: None,
        on_done: Callable[[float], None] = lambda seconds: None,
    ) -> DeviceJob:
        number, slot = next(self._slots)
        steps = forward[number]
        upload = slot.send(data)
        events: list[Any] = []
        for step in steps:
            events.append(step.enqueue(self._compute, frames, after=None if events else upload.events))
            after_each(step)
        extra = self._features.read(frames, data) if features else None
        # Only the first kernel reads the upload, unless it is a tensor.
        reader = events[-1 if isinstance(self._input, Tensor) else 0]
        download = slot.fetch(command_of(reader), command_of(events[-1]))
        self._compute.flush()
        kernels = tuple(zip(steps, events, strict=True))
        return DeviceJob(frames, data, self._output, upload, kernels, download, extra, on_done)

    def cached_peaks(self) -> tuple[float, float] | None:
        """Return operations and bytes per second, if `edged profile` has measured them here."""
        peaks = cached_peaks(self._device)
        return (peaks.flops_per_s, peaks.bytes_per_s) if peaks else None

    def close(self) -> None:
        """Wait for running jobs and release the device's memory."""
        with self._submitting, device_errors(self.device_name, "finishing"):
            self._compute.finish()
            self._closed = True
            self._slots = iter(())


def _planned(
    part: ModelPart, plan_of: Callable[[ModelPart], Plan], weights: Path, *, in_memory: bool
) -> tuple[Plan, Source]:
    """Return the plan of a part, and its packed weights: those kept in the folder `weights`, or packed now.

    Raises ModelError.
    """
    plan = plan_of(part)
    check_indices(part.graph.name, plan.launches)

    def whole() -> Plan:
        return plan_of(part.checked())

    return packed_weights(weights, part, plan, whole, in_memory=in_memory)


def _open(device: Device) -> tuple[cl.Context, cl.CommandQueue, cl.CommandQueue | None]:
    """Return a context with its queues for kernels and uploads; None where the device reads the host's memory.

    Raises DeviceError.
    """
    profiling = cl.command_queue_properties.PROFILING_ENABLE
    with device_errors(device.name, "opening it"):
        context = cl.Context([open_device(device)])
        compute = cl.CommandQueue(context, properties=profiling)
        return context, compute, None if device.unified_memory else cl.CommandQueue(context, properties=profiling)
