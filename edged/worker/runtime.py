"""What runs a model on a device, as the worker sees it, and the one place that chooses which."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.errors import DeviceError
from edged.model.package import Model
from edged.worker.part import Features, Images, ModelPart, whole

if TYPE_CHECKING:
    from edged.engine.choice import Chooser
    from edged.engine.device import Device
    from edged.engine.job import OnDevice
    from edged.engine.launch_cost import LaunchCost
    from edged.engine.runtime import Runtime
    from edged.engine.transfer import Ran

Outputs = NDArray[np.float32]

NUMPY = "NumPy"  # as a device's name

NO_OPENCL = (
    "this machine has no OpenCL runtime; install the GPU vendor's, or one for the CPU "
    "(Debian, Ubuntu: apt install pocl-opencl-icd), or use the device numpy, which is slow"
)


class Result(Protocol):
    """What came back, and seconds of device time.

    `outputs`: float32, the network's own, [n, classes], or of a part [n, *shape of what crosses the cut].
    `features`: float32 [n, values], what the last Dense reads, of a submission that wanted them.
    """

    @property
    def outputs(self) -> Outputs: ...
    @property
    def features(self) -> Outputs | None: ...
    @property
    def upload_s(self) -> float: ...
    @property
    def forward_s(self) -> float: ...
    @property
    def download_s(self) -> float: ...
    @property
    def on_device(self) -> "OnDevice | None":
        """By the device's own clock; None where there is none but the host's."""

    def read_clocks(self) -> "tuple[Ran, ...]":
        """When each kernel ran. The device has kept that in any case, but to ask for each takes a while."""


class Pending(Protocol):
    """A submission under way."""

    def wait(self) -> Result:
        """Block until it is done, in any thread. Raises DeviceError."""


class ModelRuntime(Protocol):
    """A model, ready on a device."""

    @property
    def device_name(self) -> str: ...
    @property
    def kernels(self) -> int:
        """Kernels that one forward pass launches."""

    @property
    def costs(self) -> "tuple[LaunchCost, ...]":
        """What each of them has to compute and to move, for a full batch."""

    def kept_peaks(self) -> tuple[float, float] | None:
        """Operations and bytes that the device can do in a second, where `edged profile` has measured it there."""

    def submit(self, frames: Images | Features, *, features: bool = False) -> Pending:
        """Start images, uint8 [n, height, width, 3] RGB with 1 ≤ n ≤ batch, without waiting for the answer.

        A part behind a cut takes float32 [n, channels, height, width]. Two submissions may be in flight.
        `features`: they are wanted too, of a part that has some. Raises DeviceError.
        """

    def close(self) -> None: ...


def open_runtime(
    model: Model,
    worker: config.Worker,
    *,
    part: ModelPart | None = None,
    cache: Path | None = None,
    comes_again: bool = True,
) -> ModelRuntime:
    """`model`, or that `part` of it, on the device that `worker` names.

    `cache`: folder of compiled programs, None for the user's. `comes_again`: keep its weights packed.
    Raises DeviceError, which lists the devices that there are, or ModelError if the network does not fit it.
    """
    part = part or whole(model)
    if is_numpy(worker):
        from edged.worker.numpy_runtime import NumpyRuntime

        return NumpyRuntime(part.graph.checked(), part.input, part.features)
    device = opencl_device(worker.device)
    return open_on_device(model, worker, part, device, cache=cache, comes_again=comes_again)


def open_on_device(
    model: Model,
    worker: config.Worker,
    part: ModelPart,
    device: "Device",
    *,
    chooser: "Chooser | None" = None,
    cache: Path | None = None,
    comes_again: bool = True,
) -> "Runtime":
    """As `open_runtime`, on an OpenCL device. `chooser`: None for what was measured there."""
    from edged.engine.records import chooser_for
    from edged.engine.runtime import Runtime

    return Runtime(
        part.graph,
        part.input,
        device,
        batch=worker.batch,
        precision=worker.precision,
        chooser=chooser or chooser_for(device),
        in_flight=worker.credit,
        model=model.sha256 if comes_again else None,
        cache=cache,
        is_part=part.end is not None,
        features=part.features,
    )


def device_name(worker: config.Worker) -> str:
    """The name of the device that `open_runtime` would take. Raises DeviceError."""
    return NUMPY if is_numpy(worker) else opencl_device(worker.device).name


def is_numpy(worker: config.Worker) -> bool:
    """Whether `worker` needs no OpenCL."""
    return worker.device.lower() == "numpy"


def opencl_devices() -> "tuple[Device, ...]":
    """Every OpenCL device. Raises DeviceError, which says what to install, where there is none."""
    try:
        from edged.engine.device import list_devices
    except ImportError as error:
        raise DeviceError(f"pyopencl does not load ({error}); {NO_OPENCL}") from None
    devices = list_devices()
    if not devices:
        raise DeviceError(NO_OPENCL)
    return devices


def opencl_device(name: str) -> "Device":
    """The one that fits `name`, as in the config. Raises DeviceError, which lists those that there are."""
    try:
        opencl_devices()
    except DeviceError as error:
        raise DeviceError(f"device {name}: {error}") from None
    from edged.engine.device import find_device

    return find_device(name)
