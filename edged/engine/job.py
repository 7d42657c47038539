"""A job on its way through a device, its results, and the features that it may return too."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.executable import Executable
from edged.engine.layout import Elements, Tensor, image_of, numbers_of
from edged.engine.one_launch import AnyStep, OneLaunchStep
from edged.engine.opencl import cl, device_error
from edged.engine.planner import Plan
from edged.engine.transfer import CommandInterval, Download, Upload, ran
from edged.errors import ModelError
from edged.model.graph import Float32

Launched = Sequence[tuple[AnyStep, Any]]  # with the event of each


@dataclass(frozen=True, eq=False)
class FeatureOutput:
    """A tensor of a job in its memory layout, complete once `event` has come; None: it is complete."""

    tensor: Tensor
    memory: Elements
    event: Any = None

    def wait(self) -> Elements:
        """Wait for the event. Raises cl.Error."""
        if self.event is not None:
            self.event.wait()
        return self.memory


class FeatureReader:
    """Reads the features of one plan; jobs that do not request them cost nothing."""

    def __init__(self, plan: Plan, executable: Executable, queue: Any) -> None:
        self._tensor = plan.features
        self._queue = queue
        in_the_arena = plan.features is not None and plan.features != plan.images
        self._memory = executable.memory_of(plan.features) if plan.features and in_the_arena else None

    def read(self, frames: int, uploaded: NDArray[np.uint8]) -> FeatureOutput:
        """Enqueue the copy after the kernels of a job, before those of the next one overwrite it.

        `uploaded`: the input of the job, which are the features if the part begins with them. Raises ModelError if
        there are none.
        """
        if self._tensor is None:
            raise ModelError("this network has no features: it does not end in a fully connected layer")
        if self._memory is None:
            return FeatureOutput(self._tensor, uploaded.view(self._tensor.dtype))
        values = np.empty(frames * self._tensor.nbytes // self._tensor.frames, np.uint8)
        event = cl.enqueue_copy(self._queue, values, self._memory, is_blocking=False)
        return FeatureOutput(self._tensor, values.view(self._tensor.dtype), event)


@dataclass(frozen=True)
class KernelTime:
    """The time of one kernel of a job, from the start of the first one, by the device's clock.

    Kernels come in the order of the plan's launches.
    """

    operator: str
    kernel: str
    started_s: float
    seconds: float


@dataclass(frozen=True, slots=True)
class DeviceInterval:
    """When the device worked on a job's commands.

    `forward`: from the start of the first kernel to the end of the last.
    """

    upload: CommandInterval
    forward: CommandInterval
    download: CommandInterval


@dataclass(frozen=True, eq=False)
class DeviceResult:
    """Raw outputs, float32 [frames, classes], of a part [frames, channels, height, width]; and seconds.

    `upload_s` and `download_s` include copies by the host; `forward_s` is by the device's own clock.
    `launched`: the kernels with their events. `features`: float32 [frames, values], if requested.
    """

    outputs: Float32
    upload_s: float
    forward_s: float
    download_s: float
    on_device: DeviceInterval
    launched: Launched
    features: Float32 | None = None

    def read_clocks(self) -> tuple[CommandInterval, ...]:
        """Return when each kernel ran, in the order of the plan's launches.

        Empty if the device does not report it, or computed several of them in one launch. The queue records this
        in any case for the whole duration, but reading it for each kernel takes time.
        """
        if any(isinstance(step, OneLaunchStep) for step, _ in self.launched):
            return ()
        try:
            return tuple(ran(event) for _, event in self.launched)
        except cl.Error:
            return ()

    @cached_property
    def kernels(self) -> tuple[KernelTime, ...]:
        """Return the times of the kernels with their names."""
        start_ns = self.on_device.forward.start_ns
        return tuple(
            KernelTime(step.launch.operator, step.launch.kernel, (time.start_ns - start_ns) * 1e-9, time.seconds)
            for (step, _), time in zip(self.launched, self.read_clocks(), strict=False)
        )


@dataclass(frozen=True, eq=False)
class DeviceJob:
    """The commands of a job on its device, and its inputs, which must live until the device has finished.

    `on_done` is called with the seconds of the forward pass.
    """

    frames: int
    data: NDArray[np.uint8]
    output: Tensor
    upload: Upload
    kernels: Launched
    download: Download
    extra: FeatureOutput | None = None
    on_done: Callable[[float], None] = lambda seconds: None

    def result(self) -> DeviceResult:
        """Wait for the result. Raises cl.Error."""
        outputs = _vectors(self.output, self.download.wait().view(self.output.dtype), self.frames)
        on_device = self._on_device()
        self.on_done(on_device.forward.seconds)
        features = None
        if self.extra is not None:  # its copy was enqueued before the download, in the same queue
            features = _vectors(self.extra.tensor, self.extra.wait(), self.frames).reshape(self.frames, -1)
        return DeviceResult(
            outputs=outputs,
            upload_s=self.upload.host_s + on_device.upload.seconds,
            forward_s=on_device.forward.seconds,
            download_s=self.download.host_s + on_device.download.seconds,
            on_device=on_device,
            launched=self.kernels,
            features=features,
        )

    def _on_device(self) -> DeviceInterval:
        """Return when the device worked; a transfer without a command takes no time there."""
        (_, first), (_, last) = self.kernels[0], self.kernels[-1]
        forward = ran(first, last)
        upload, download = self.upload.command, self.download.command
        return DeviceInterval(
            ran(upload) if upload else CommandInterval(forward.start_ns, forward.start_ns),
            forward,
            ran(download) if download else CommandInterval(forward.end_ns, forward.end_ns),
        )

    @property
    def is_computed(self) -> bool:
        """Return whether the last kernel is complete; False, too, where it failed. Raises cl.Error."""
        _, last = self.kernels[-1]
        return bool(last.command_execution_status == cl.command_execution_status.COMPLETE)

    def failed_kernel(self) -> str:
        """Return the first kernel whose event says that it failed, if any does."""
        failed = (str(step) for step, event in self.kernels if event.command_execution_status < 0)
        return next(failed, "a job")


def _vectors(tensor: Tensor, memory: Elements, frames: int) -> Float32:
    """Return the outputs of so many frames as vectors; features are one pixel."""
    planes = memory.reshape(-1, tensor.blocks, tensor.rows, tensor.pitch, tensor.block)
    if (tensor.height, tensor.width) == (1, 1):
        pixel = planes[:frames, :, tensor.halo.top, tensor.halo.left]
        return numbers_of(tensor, pixel.reshape(len(pixel), -1)[:, : tensor.channels])
    return image_of(tensor, planes[:frames])


class PendingDeviceJob:
    """A job on its way through the device. Any thread may wait for it."""

    def __init__(self, job: DeviceJob, device_name: str) -> None:
        self._job = job
        self._device_name = device_name

    @property
    def is_computed(self) -> bool:
        """Return whether its last kernel is complete, as it is at once where the driver computes in `submit`."""
        try:
            return self._job.is_computed
        except cl.Error:  # which `wait` raises, too
            return False

    def wait(self) -> DeviceResult:
        """Block until the scores have arrived; other Python threads continue. Raises DeviceError."""
        try:
            return self._job.result()
        except cl.Error as error:
            raise device_error(self._device_name, f"computing {self._job.failed_kernel()}", error) from error
