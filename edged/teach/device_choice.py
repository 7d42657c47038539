"""Choose where a head is trained and features are computed, while a daemon may be using the device.

A GPU is used if it is free. A CPU's runtime is shared with its worker, at the lowest priority: no driver can block
there. Otherwise NumPy is used, which is enough for a head.
"""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from edged import config
from edged.errors import DeviceError
from edged.runtime.select import is_numpy, lock_of, opencl_device, opencl_devices
from edged.system import exclusive_lock

if TYPE_CHECKING:
    from edged.engine.device import Device

NICE = 19


def find_place(workers: Sequence[config.WorkerConfig], wanted: str | None) -> "Device | None":
    """Return the OpenCL device, locked by this process if it is not a CPU; None: NumPy.

    wanted: as in the config's `device`. Raises DeviceError if that is absent or in use.
    """
    if wanted is not None:
        if is_numpy(config.WorkerConfig(device=wanted)):
            return None
        device = opencl_device(wanted)
        _lock_device(device)
        return device
    for device in _candidates(workers):
        try:
            _lock_device(device)
        except DeviceError:
            continue
        return device
    return None


def lower_priority() -> None:
    """Lower the priority of this process; existing threads keep theirs."""
    os.nice(NICE)


def _candidates(workers: Sequence[config.WorkerConfig]) -> "Iterator[Device]":
    """Yield the devices of this host's workers, in order, then CPUs."""
    for worker in workers:
        if worker.host is None and not is_numpy(worker):
            try:
                yield opencl_device(worker.device)
            except DeviceError:
                continue
    try:
        yield from (device for device in opencl_devices() if device.kind == "cpu")
    except DeviceError:
        return


def _lock_device(device: "Device") -> None:
    """Lock the device. Raises DeviceError if a worker has it."""
    if device.kind != "cpu":
        exclusive_lock.hold(lock_of(device), within_s=0)
