"""A job on its way through a device, and what comes back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.executable import Step
from edged.engine.layout import Tensor
from edged.engine.opencl import cl, device_error
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
    """Raw outputs of the network, float32 [frames, classes], and seconds by the device's own clock.

    `forward_s` runs from the start of the first kernel to the end of the last; `kernels` is empty unless the
    runtime was opened with `profile`.
    """

    outputs: Float32
    upload_s: float
    forward_s: float
    download_s: float
    kernels: tuple[KernelTime, ...] = ()


@dataclass(frozen=True, eq=False)
class Job:
    """Events of one job, and the host's memory at both ends: it must live until the device has done with it."""

    images: NDArray[np.uint8]
    memory: Float32
    output: Tensor
    upload: Any
    kernels: tuple[tuple[Step, Any], ...]
    download: Any
    profile: bool

    def result(self) -> Result:
        (_, first), (_, last) = self.kernels[0], self.kernels[-1]
        return Result(
            outputs=self._scores(),
            upload_s=_seconds(self.upload, self.upload),
            forward_s=_seconds(first, last),
            download_s=_seconds(self.download, self.download),
            kernels=tuple(
                KernelTime(
                    step.launch.operator,
                    step.launch.kernel,
                    (event.profile.start - first.profile.start) * 1e-9,
                    _seconds(event, event),
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

    def _scores(self) -> Float32:
        output = self.output
        planes = self.memory.reshape(-1, output.blocks, output.rows, output.pitch, output.block)
        pixel = planes[: len(self.images), :, output.halo.top, output.halo.left]
        return np.ascontiguousarray(pixel.reshape(len(pixel), -1)[:, : output.channels])


class Pending:
    """A job on its way through the device. Any thread may wait for it."""

    def __init__(self, job: Job, device_name: str) -> None:
        self._job = job
        self._device_name = device_name

    def wait(self) -> Result:
        """Block until the scores are there; other Python threads go on. Raises DeviceError."""
        try:
            self._job.download.wait()
            return self._job.result()
        except cl.Error as error:
            raise device_error(self._device_name, f"computing {self._job.failed_kernel()}", error) from error


def _seconds(first: Any, last: Any) -> float:
    return float(last.profile.end - first.profile.start) * 1e-9
