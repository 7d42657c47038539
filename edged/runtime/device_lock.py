"""Which workers may drive a device at the same time."""

from typing import TYPE_CHECKING

from edged.config import WorkerConfig
from edged.errors import DeviceError
from edged.runtime.select import is_numpy, opencl_device
from edged.system import exclusive_lock

if TYPE_CHECKING:
    from edged.engine.device import Device


def hold_device(worker: WorkerConfig, name: str) -> None:
    """Lock a device until this process ends. `name`: the worker's own.

    Beside a worker that is stuck in the driver of a device there must not be a second one. A CPU that keeps to
    `threads` has no driver to be stuck in, and several may share it, each in a place of its own. Raises
    DeviceError where the device, or the place, is taken, or where the device takes more than `threads`.
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
            f"{device.name} ({device.platform}) does not keep to threads: {worker.threads}, which is for CPUs "
            "with PoCL, and for numpy: leave it out, or name another device"
        )


def lock_of(device: "Device") -> str:
    """Return what who drives it alone holds (see `edged.system.exclusive_lock`)."""
    return f"device-{device.platform}-{device.name}"
