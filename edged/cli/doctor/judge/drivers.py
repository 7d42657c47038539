"""Judge the drivers: may this user open the GPU, and is there an OpenCL driver for its kernel driver?"""

from collections.abc import Iterator, Sequence

from edged.cli.doctor.facts import DeviceFile, Drivers, ExaminedDevice, Judgement
from edged.cli.doctor.judge.defects import ARM, RUSTICL

MESA = {"panfrost": "panfrost", "panthor": "panfrost"}  # kernel drivers, and what RUSTICL_ENABLE calls theirs
BY_DEFAULT = (26, 2)  # the Mesa that needs no RUSTICL_ENABLE for Panfrost
UNSUPPORTED = {"v3d": "Mesa has no OpenCL for it that edged was tried on", "lima": "it computes no OpenCL"}
SERVICE = "sudo systemctl edit edged  # [Service] Environment=RUSTICL_ENABLE="


def judge_drivers(drivers: Drivers, devices: Sequence[ExaminedDevice], user: str) -> Iterator[Judgement]:
    """Judge the device files, then the drivers of OpenCL."""
    for node in drivers.nodes:
        yield _node(node, user)
    if not drivers.nodes:
        yield Judgement("Drivers", "ok", "GPU", "no device file of a GPU: /dev/dri/renderD*, /dev/mali*")
    yield _vendors(drivers)
    for name, value in drivers.variables.items():
        yield Judgement("Drivers", "ok", name, value)
    yield from _mali(drivers, devices)


def _node(node: DeviceFile, user: str) -> Judgement:
    what = f"{node.path}" + (f" ({node.driver})" if node.driver else "")
    text = f"{node.mode}, group {node.group}"
    if node.usable:
        return Judgement("Drivers", "ok", what, f"{text}: {user} may use it")
    group = node.group
    remedy: tuple[str, ...] = ()
    if group == "root" or node.mode[4:6] != "rw":
        group = "render"
        keep = "until the device comes again; 70-edged.rules of `make install` keeps it"
        remedy = (f"sudo chgrp render {node.path}", f"sudo chmod 660 {node.path}  # {keep}")
    remedy = (*remedy, f"sudo usermod -aG {group} {user}  # then log in again")
    return Judgement("Drivers", "mend", what, f"{text}: {user} may not use it", remedy)


def _vendors(drivers: Drivers) -> Judgement:
    if drivers.vendors:
        return Judgement("Drivers", "ok", "OpenCL", ", ".join(drivers.vendors))
    if "OCL_ICD_VENDORS" in drivers.variables:
        return Judgement("Drivers", "ok", "OpenCL", "by OCL_ICD_VENDORS")
    remedy = ("sudo apt install pocl-opencl-icd",)
    text = "/etc/OpenCL/vendors names no driver: NumPy computes, slowly"
    return Judgement("Drivers", "mend", "OpenCL", text, remedy)


def _mali(drivers: Drivers, devices: Sequence[ExaminedDevice]) -> Iterator[Judgement]:
    """Judge the GPU of a board: Mesa needs panfrost or panthor in the kernel, Arm's libmali needs mali."""
    by_node = [node.driver for node in drivers.nodes if node.driver]
    kernel = next((driver for driver in (*by_node, *drivers.modules) if driver in MESA), None)
    if kernel:
        yield from _open_driver(kernel, drivers, devices)
        return
    if any(node.path.startswith("/dev/mali") for node in drivers.nodes):
        yield from _vendor_driver(drivers, devices)
    for driver in {*by_node, *drivers.modules} & set(UNSUPPORTED):
        text = f"{UNSUPPORTED[driver]}: the CPU computes, by PoCL"
        yield Judgement("Drivers", "note", f"kernel driver {driver}", text)


def _open_driver(kernel: str, drivers: Drivers, devices: Sequence[ExaminedDevice]) -> Iterator[Judgement]:
    what = f"kernel driver {kernel}"
    if drivers.libmali:
        unusable = f"{drivers.libmali[0]} needs the vendor's kernel driver mali, which this kernel does not run"
        yield Judgement("Drivers", "note", what, unusable)
    if any(device.platform == RUSTICL and device.kind == "gpu" for device in devices):
        yield Judgement("Drivers", "ok", what, "rusticl, Mesa's OpenCL, uses it")
        return
    driver = MESA[kernel]
    if not any("rusticl" in name for name in drivers.vendors):
        remedy = ("sudo apt install mesa-opencl-icd",)
        yield Judgement("Drivers", "mend", what, "rusticl, Mesa's OpenCL for it, is not installed", remedy)
    elif driver not in drivers.variables.get("RUSTICL_ENABLE", "").split(","):
        needed = ".".join(map(str, BY_DEFAULT))
        text = f"rusticl is installed, but Mesa before {needed} uses this GPU only with RUSTICL_ENABLE={driver}"
        yield Judgement("Drivers", "mend", what, text, (f"export RUSTICL_ENABLE={driver}", f"{SERVICE}{driver}"))
    else:
        text = "rusticl is installed and switched on, but lists no GPU: may this user open the device file above?"
        yield Judgement("Drivers", "mend", what, text, ("sudo dmesg | grep -i -e panfrost -e panthor",))


def _vendor_driver(drivers: Drivers, devices: Sequence[ExaminedDevice]) -> Iterator[Judgement]:
    if any(device.platform == ARM for device in devices):
        yield Judgement("Drivers", "ok", "kernel driver mali", "libmali, the vendor's OpenCL, uses it")
    elif drivers.libmali:
        library = drivers.libmali[0]
        remedy = (f"echo {library} | sudo tee /etc/OpenCL/vendors/mali.icd",)
        text = (
            f"{library} is there, but lists no device: /etc/OpenCL/vendors must name it, in the kernel's version"
        )
        yield Judgement("Drivers", "mend", "kernel driver mali", text, remedy)
    else:
        text = "the vendor's libmali, which it needs, is not installed: take it from the board's maker"
        yield Judgement("Drivers", "mend", "kernel driver mali", text)
