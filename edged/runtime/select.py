"""Choose the device of a model, NumPy or the OpenCL device that the config names, and lock it for one worker."""

from pathlib import Path
from typing import TYPE_CHECKING

from edged import config
from edged.config import WorkerConfig
from edged.errors import DeviceError
from edged.model.graph import Graph
from edged.model.model_part import ModelPart
from edged.model.quantized_passes import is_quantized
from edged.runtime.base import NUMPY, ModelRuntime
from edged.runtime.drivers import WITHOUT_OPENCL, why_this_process_may_not_load_them
from edged.system import exclusive_lock

if TYPE_CHECKING:
    from edged.engine.device import Device
    from edged.engine.runtime import Runtime
    from edged.engine.selection import Chooser

NO_OPENCL = (
    "this machine has no OpenCL runtime; install the GPU vendor's, or one for the CPU "
    f"(Debian, Ubuntu: apt install pocl-opencl-icd); {WITHOUT_OPENCL}"
)


def open_runtime(part: ModelPart, worker: config.WorkerConfig, *, cache: Path | None = None) -> ModelRuntime:
    """Open the device that `worker` names for a part of a model.

    `cache`: folder of compiled programs, None for the user's. Raises DeviceError, which lists the available
    devices, or ModelError if the network does not fit it.
    """
    if is_numpy(worker):
        from edged.runtime.numpy_runtime import NumpyRuntime

        return NumpyRuntime(part.checked())
    device = device_for(part.graph, worker.device, worker.precision)
    return open_on_device(part, worker, device, cache=cache)


def open_on_device(
    part: ModelPart,
    worker: config.WorkerConfig,
    device: "Device",
    *,
    chooser: "Chooser | None" = None,
    cache: Path | None = None,
) -> "Runtime":
    """Open an OpenCL device as `open_runtime` does. `chooser`: None for the measured choices of the device."""
    from edged.engine.runtime import Runtime
    from edged.engine.tuning_records import chooser_for

    return Runtime(
        part,
        device,
        batch=worker.batch,
        precision=worker.precision,
        chooser=chooser or chooser_for(device),
        in_flight=worker.credit,
        cache=cache,
    )


def device_name(worker: config.WorkerConfig) -> str:
    """Return the name of the device that `open_runtime` would take. Raises DeviceError."""
    return NUMPY if is_numpy(worker) else opencl_device(worker.device).name


def is_numpy(worker: config.WorkerConfig) -> bool:
    """Return whether `worker` needs no OpenCL."""
    return worker.device.lower() == "numpy"


def opencl_devices() -> "tuple[Device, ...]":
    """Return every OpenCL device. Raises DeviceError, with what to do, if there is none or a driver crashes."""
    try:
        from edged.engine.device import list_devices
    except ImportError as error:
        raise DeviceError(f"pyopencl does not load ({error}); {NO_OPENCL}") from None
    if problem := why_this_process_may_not_load_them():
        raise DeviceError(problem)
    devices = list_devices()
    if not devices:
        raise DeviceError(NO_OPENCL)
    return devices


def opencl_device(name: str) -> "Device":
    """Return the device that matches `name`, as in the config, its dot products untried.

    Raises DeviceError, which lists the available ones.
    """
    try:
        opencl_devices()
    except DeviceError as error:
        raise DeviceError(f"device {name}: {error}") from None
    from edged.engine.device import find_device

    return find_device(name)


def device_for(graph: Graph, name: str, precision: config.Precision) -> "Device":
    """Return the device as `opencl_device` does, with the dot products that it computes correctly.

    They are tried, once a driver, where `graph` has use for them: a trial costs a start about a second.
    """
    device = opencl_device(name)
    if precision != "bf16" and not is_quantized(graph):
        return device
    from edged.engine.instruction_trials import with_instructions

    return with_instructions(device)


def hold_device(worker: WorkerConfig, name: str) -> None:
    """Lock a device until this process ends. `name`: the worker's own.

    A worker that is stuck in a driver must not get a second one beside it. A CPU limited to `threads` has no such
    driver, and several workers may share it, each in its own place. Raises DeviceError if the device, or the
    place, is taken, or if the device cannot be limited to `threads`.
    """
    if is_numpy(worker):
        return
    device = opencl_device(worker.device)
    what = lock_of(device)
    if worker.threads is None:
        exclusive_lock.hold(what)
    elif device.kind == "cpu" and device.compute_units <= worker.threads:
        exclusive_lock.hold(f"{what}-{name}")
    else:
        raise DeviceError(
            f"{device.name} ({device.platform}) cannot be limited to threads: {worker.threads}, which is for CPUs "
            "with PoCL, and for numpy: leave it out, or name another device"
        )


def lock_of(device: "Device") -> str:
    """Return the name of the lock for exclusive use of the device (see `edged.system.exclusive_lock`)."""
    return f"device-{device.platform}-{device.name}"
