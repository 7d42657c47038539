"""The only module that imports pyopencl: settings required before a driver is loaded, and translated errors."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from edged.engine.scratch import use_own_scratch
from edged.errors import DeviceError, DeviceMemoryError
from edged.system.paths import cache_directory

DRIVER_SETTINGS = {
    # PoCL's own cache runs what it finds, whole or not; ours is checked (`binaries`).
    "POCL_KERNEL_CACHE": "0",
    # PoCL would compile each kernel twice, for the binary and at its first launch: once is enough, since
    # every kernel here fixes its own work-group size.
    "POCL_WORK_GROUP_SPECIALIZATION": "0",
    # Unpinned, Linux often wakes PoCL's second thread on the core of the first, where it waits for as long as a
    # small network takes.
    "POCL_AFFINITY": "1",
    # pyopencl fetches binaries before kernels exist, too early for drivers that compile in clCreateKernel.
    "PYOPENCL_NO_CACHE": "1",
}
for _name, _value in DRIVER_SETTINGS.items():
    os.environ.setdefault(_name, _value)
use_own_scratch(cache_directory() / "pocl", os.environ)

import pyopencl as cl  # noqa: E402

# Without CL_OUT_OF_RESOURCES, which some drivers return for any error.
NO_MEMORY = (
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
    cl.status_code.OUT_OF_HOST_MEMORY,
    cl.status_code.INVALID_BUFFER_SIZE,
)

__all__ = ["cl", "device_error", "device_errors", "in_one_line"]


@contextmanager
def device_errors(device: str, doing: str) -> Iterator[None]:
    """Convert errors of OpenCL while `doing` something on `device` into a `DeviceError`."""
    try:
        yield
    except (cl.Error, MemoryError) as error:
        raise device_error(device, doing, error) from error


def device_error(device: str, doing: str, error: cl.Error | MemoryError) -> DeviceError:
    """Return an error that names the device, the failure and the remedy."""
    what = f"{device} failed while {doing}: {in_one_line(error)}"
    if isinstance(error, MemoryError) or error.code in NO_MEMORY:
        return DeviceMemoryError(f"{what}. A smaller `batch`, or another device in `workers:`, takes less memory")
    return DeviceError(f"{what}. See `edged devices` for others to name in `workers:` (numpy needs no driver)")


def in_one_line(error: BaseException) -> str:
    """Return the compiler's message if there is one, else the first line."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return next((line.strip() for line in lines if "error:" in line), lines[0])
