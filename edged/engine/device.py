"""List the OpenCL devices of this machine, as plain values for which a plan can be made."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from edged.engine.instructions import KHR_DOT
from edged.engine.opencl import cl, device_errors
from edged.errors import DeviceError

Kind = Literal["gpu", "cpu", "accelerator"]
POCL = "Portable Computing Language"
# PoCL's drivers for a CPU that compute in the thread which submits, and those of the same processor with threads
DRIVERS_OF_ONE_THREAD = {"basic": "pthread", "cpu-minimal": "cpu"}
UNKNOWN_UNITS, FEWEST_UNITS = 9999, 2
NOT_OPENCL = {"cuda", "tensorrt", "vulkan", "metal", "mps", "openvino", "rknn", "npu", "tpu", "edgetpu", "coral"}
OF_OTHERS = "edged computes by OpenCL: write auto, gpu, cpu or numpy; "


@dataclass(frozen=True)
class Device:
    """The properties of a device that a plan depends on.

    `vector_width` is in floats, `alignment` in bytes. `position` is (platform, device) in the driver's own order,
    by which `open_device` tells it from others of its name. `instructions`: dot products that its kernels may use,
    once they were tried (see `instruction_trials`). `integer_dot`: it has cl_khr_integer_dot_product.
    """

    platform: str
    name: str
    kind: Kind
    version: str
    driver: str
    compute_units: int
    memory_bytes: int
    vector_width: int
    alignment: int
    unified_memory: bool
    fp16: bool
    position: tuple[int, int]
    instructions: tuple[str, ...] = ()
    integer_dot: bool = False

    @property
    def release(self) -> tuple[int, ...]:
        """Return the version of its driver: (6, 0) of `6.0+debian`; empty if it names none."""
        found = re.match(r"\d+(?:\.\d+)*", self.driver)
        return tuple(map(int, found[0].split("."))) if found else ()


def list_devices() -> tuple[Device, ...]:
    """Return every OpenCL device, in the drivers' order; empty where there is no OpenCL runtime."""
    return tuple(
        describe(platform, handle, (p, d))
        for p, platform in enumerate(_platforms())
        for d, handle in enumerate(_handles(platform))
    )


def find_device(name: str) -> Device:
    """Return the first device that matches `name`: auto (a GPU if there is one), gpu, cpu, or a part of its names.

    Raises DeviceError, which lists the devices found.
    """
    devices = list_devices()
    wanted = name.casefold()
    if wanted == "auto":
        fitting = sorted(devices, key=lambda device: ("gpu", "cpu", "accelerator").index(device.kind))
    elif wanted in {"gpu", "cpu", "accelerator"}:
        fitting = [device for device in devices if device.kind == wanted]
    else:
        fitting = [device for device in devices if wanted in f"{device.platform} {device.name}".casefold()]
    if not fitting:
        instead = OF_OTHERS if wanted.partition(":")[0] in NOT_OPENCL else ""
        raise DeviceError(f"no OpenCL device matches {name!r}; {instead}{_what_there_is(devices)}")
    return fitting[0]


def open_device(device: Device) -> Any:
    """Return the driver's handle of `device`. Raises DeviceError if it has disappeared since it was listed."""
    found = {
        (p, d): handle
        for p, platform in enumerate(_platforms())
        for d, handle in enumerate(_handles(platform))
        if (platform.name.strip(), _name(platform, handle)) == (device.platform, device.name)
    }
    if not found:
        raise DeviceError(f"{device.name} is no longer there; see `edged devices`")
    return found.get(device.position, next(iter(found.values())))


def _platforms() -> list[Any]:
    try:
        return list(cl.get_platforms())
    except cl.Error:  # how the loader reports that no driver is installed
        return []


def _handles(platform: Any) -> list[Any]:
    try:
        return list(platform.get_devices())
    except cl.Error:  # a driver whose hardware is absent
        return []


def describe(platform: Any, handle: Any, position: tuple[int, int]) -> Device:
    """Return the properties that a driver gives of a device, by the names of pyopencl. Raises DeviceError."""
    with device_errors(platform.name, "reading its properties"):
        return Device(
            platform=platform.name.strip(),
            name=_name(platform, handle),
            kind=_kind(handle.type),
            version=handle.version.strip(),
            driver=handle.driver_version.strip(),
            compute_units=_units(handle.max_compute_units),
            memory_bytes=handle.global_mem_size,
            vector_width=max(1, handle.native_vector_width_float),
            alignment=max(64, handle.mem_base_addr_align // 8),
            unified_memory=bool(handle.host_unified_memory),
            fp16="cl_khr_fp16" in handle.extensions.split(),
            position=position,
            integer_dot=KHR_DOT in handle.extensions.split(),
        )


def _name(platform: Any, handle: Any) -> str:
    """Return the name of a device; of PoCL's, which begin with a driver, the same for one thread as for more."""
    name = str(handle.name.strip())
    if platform.name.strip() == POCL:
        for of_one, usual in DRIVERS_OF_ONE_THREAD.items():
            if name == of_one or name.startswith(f"{of_one}-"):
                return usual + name.removeprefix(of_one)
    return name


def _units(number: int) -> int:
    """Return the compute units; of Mesa's freedreno, which has 9999 for want of a number, the fewest of a GPU."""
    return FEWEST_UNITS if number == UNKNOWN_UNITS else number


def _kind(device_type: int) -> Kind:
    if device_type & cl.device_type.GPU:
        return "gpu"
    return "cpu" if device_type & cl.device_type.CPU else "accelerator"


def _what_there_is(devices: tuple[Device, ...]) -> str:
    if not devices:
        return "no OpenCL runtime is installed (on Debian: apt install pocl-opencl-icd), or use device: numpy"
    return "available: " + ", ".join(f"{device.name} ({device.kind}, {device.platform})" for device in devices)
