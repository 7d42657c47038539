"""Locks that decide which workers may use a device at the same time."""

from typing import TYPE_CHECKING

from edged.config import WorkerConfig
from edged.errors import DeviceError
from edged.runtime.select import is_numpy, opencl_device
from edged.system import exclusive_lock

if TYPE_CHECKING:
    from edged.engine.device import Device


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
