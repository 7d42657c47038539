"""A job on its way through a device, and what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.arrays import image_of
from edged.engine.executable import Step
from edged.engine.layout import Tensor
from edged.engine.opencl import cl, device_error
from edged.engine.transfer import Download, Ran, Upload, ran
from edged.model.graph import Float32

Launched = Sequence[tuple[Step, Any]]  # with the event of each


@dataclass(frozen=True)
class KernelTime:
    """When one kernel of a job began, from the start of the first, and what it took, by the device's clock.

    Kernels come in the order of the plan's launches.
    """

    operator: str
    kernel: str
    started_s: float
    seconds: float


@dataclass(frozen=True, slots=True)
class OnDevice:
    """When the device was at what a job wants of it; `forward`: from the first kernel to the end of the last."""

    upload: Ran
    forward: Ran
    download: Ran


@dataclass(frozen=True, eq=False)
class Result:
    """Raw outputs, float32 [frames, classes], of a part [frames, channels, height, width]; and seconds.

    `upload_s` and `download_s` hold what the host itself had to copy; `forward_s` is by the device's own clock.
    `launched`: what ran, with its events.
    """

    outputs: Float32
    upload_s: float
    forward_s: float
    download_s: float
    on_device: OnDevice
    launched: Launched

    def read_clocks(self) -> tuple[Ran, ...]:
        """When each kernel ran, in the order of the launches; nothing where the device will not say.

        The queue keeps that in any case, to tell what the whole took; but to ask for each takes a while.
        """
        try:
            return tuple(ran(event) for _, event in self.launched)
        except cl.Error:
            return ()

    @cached_property
    def kernels(self) -> tuple[KernelTime, ...]:
        """The same by name."""
        start_ns = self.on_device.forward.start_ns
        return tuple(
            KernelTime(step.launch.operator, step.launch.kernel, (time.start_ns - start_ns) * 1e-9, time.seconds)
            for (step, _), time in zip(self.launched, self.read_clocks(), strict=False)
        )


@dataclass(frozen=True, eq=False)
class Job:
    """What a job has on its device, and what it sent there, which must live until the device has done with it."""

    frames: int
    data: NDArray[np.uint8]
    output: Tensor
    upload: Upload
    kernels: Launched
    download: Download

    def result(self) -> Result:
        """Wait for it. Raises cl.Error."""
        outputs = self._outputs(self.download.take())
        (_, first), (_, last) = self.kernels[0], self.kernels[-1]
        on_device = OnDevice(ran(self.upload.command), ran(first, last), ran(self.download.command))
        return Result(
            outputs=outputs,
            upload_s=self.upload.host_s + on_device.upload.seconds,
            forward_s=on_device.forward.seconds,
            download_s=self.download.host_s + on_device.download.seconds,
            on_device=on_device,
            launched=self.kernels,
        )

    def failed_kernel(self) -> str:
        """The first kernel whose event says that it failed, if any does."""
        failed = (str(step) for step, event in self.kernels if event.command_execution_status < 0)
        return next(failed, "a job")

    def _outputs(self, memory: Float32) -> Float32:
        """Features are one pixel."""
        output = self.output
        planes = memory.view(output.dtype).reshape(-1, output.blocks, output.rows, output.pitch, output.block)
        if (output.height, output.width) == (1, 1):
            pixel = planes[: self.frames, :, output.halo.top, output.halo.left]
            return np.ascontiguousarray(pixel.reshape(len(pixel), -1)[:, : output.channels], np.float32)
        return image_of(output, planes[: self.frames])


class Pending:
    """A job on its way through the device. Any thread may wait for it."""

    def __init__(self, job: Job, device_name: str) -> None:
        self._job = job
        self._device_name = device_name

    def wait(self) -> Result:
        """Block until the scores are there; other Python threads go on. Raises DeviceError."""
        try:
            return self._job.result()
        except cl.Error as error:
            raise device_error(self._device_name, f"computing {self._job.failed_kernel()}", error) from error
