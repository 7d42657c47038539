"""A job on its way through a device, and what comes back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.arrays import image_of
from edged.engine.executable import Step
from edged.engine.layout import Tensor
from edged.engine.opencl import cl, device_error
from edged.engine.transfer import Download, Upload, duration
from edged.model.graph import Float32


@dataclass(frozen=True)
class KernelTime:
    """When one kernel of a job began, from the start of the first, and what it took, by the device's clock.

    Kernels come in the order of the plan's launches.
    """

    operator: str
    kernel: str
    started_s: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Result:
    """Raw outputs, float32 [frames, classes], of a part [frames, channels, height, width]; and seconds.

    `upload_s` and `download_s` hold what the host itself had to copy. `forward_s`, by the device's own clock, runs
    from the start of the first kernel to the end of the last. `kernels` is empty unless the runtime was opened
    with `profile`.
    """

    outputs: Float32
    upload_s: float
    forward_s: float
    download_s: float
    kernels: tuple[KernelTime, ...] = ()


@dataclass(frozen=True, eq=False)
class Job:
    """What a job has on its device, and what it sent there, which must live until the device has done with it."""

    frames: int
    data: NDArray[np.uint8]
    output: Tensor
    upload: Upload
    kernels: tuple[tuple[Step, Any], ...]
    download: Download
    profile: bool

    def result(self) -> Result:
        """Wait for it. Raises cl.Error."""
        outputs = self._outputs(self.download.take())
        (_, first), (_, last) = self.kernels[0], self.kernels[-1]
        return Result(
            outputs=outputs,
            upload_s=self.upload.seconds(),
            forward_s=duration(first, last),
            download_s=self.download.seconds(),
            kernels=tuple(
                KernelTime(
                    step.launch.operator,
                    step.launch.kernel,
                    (event.profile.start - first.profile.start) * 1e-9,
                    duration(event),
                )
                for step, event in self.kernels
            )
            if self.profile
            else (),
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
