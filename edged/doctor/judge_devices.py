"""Judge the OpenCL devices: may this user open the GPU, is there a driver for it, do its self-tests pass?"""

from collections.abc import Iterator, Mapping, Sequence

from edged.doctor.driver_defects import ARM, RUSTICL, known_defects
from edged.doctor.facts import DeviceFile, Drivers, ExaminedDevice, Facts, TriedStep
from edged.doctor.finding import Finding, in_section
from edged.system.own_command import own_command
from edged.system.plain_text import counted, short_number

MESA = {"panfrost": "panfrost", "panthor": "panfrost"}  # kernel drivers, and what RUSTICL_ENABLE calls theirs
BY_DEFAULT = (26, 2)  # the Mesa that needs no RUSTICL_ENABLE for Panfrost
UNSUPPORTED = {"v3d": "Mesa has no OpenCL for it that edged was tried on", "lima": "it computes no OpenCL"}
SERVICE = "sudo systemctl edit edged  # [Service] Environment="

NAMES = {"digits": "digits", "mobilenetv2": "MobileNetV2@224", "resnet50": "ResNet-50@120"}


def judge_drivers(drivers: Drivers, devices: Sequence[ExaminedDevice], user: str) -> Iterator[Finding]:
    """Judge the device files, then the drivers of OpenCL."""
    for node in drivers.nodes:
        yield _node(node, user)
    if not drivers.nodes:
        yield Finding("ok", "GPU", "no device file of a GPU: /dev/dri/renderD*, /dev/mali*")
    yield _vendors(drivers)
    for name, value in drivers.variables.items():
        yield Finding("ok", name, value)
    yield from _mali(drivers, devices)


def _node(node: DeviceFile, user: str) -> Finding:
    what = f"{node.path}" + (f" ({node.driver})" if node.driver else "")
    text = f"{node.mode}, group {node.group}"
    if node.usable:
        return Finding("ok", what, f"{text}: {user} may use it")
    group = node.group
    remedy: tuple[str, ...] = ()
    if group == "root" or node.mode[4:6] != "rw":
        group = "render"
        keep = "lasts until the device is added again; 70-edged.rules of `make install` makes it permanent"
        remedy = (f"sudo chgrp render {node.path}", f"sudo chmod 660 {node.path}  # {keep}")
    remedy = (*remedy, f"sudo usermod -aG {group} {user}  # then log in again")
    return Finding("error", what, f"{text}: {user} may not use it", remedy)


def _vendors(drivers: Drivers) -> Finding:
    if drivers.vendors:
        return Finding("ok", "OpenCL", ", ".join(drivers.vendors))
    if "OCL_ICD_VENDORS" in drivers.variables:
        return Finding("ok", "OpenCL", "by OCL_ICD_VENDORS")
    remedy = ("sudo apt install pocl-opencl-icd",)
    text = "/etc/OpenCL/vendors names no driver: NumPy computes, slowly"
    return Finding("error", "OpenCL", text, remedy)


def _mali(drivers: Drivers, devices: Sequence[ExaminedDevice]) -> Iterator[Finding]:
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
        yield Finding("warning", f"kernel driver {driver}", text)


def _open_driver(kernel: str, drivers: Drivers, devices: Sequence[ExaminedDevice]) -> Iterator[Finding]:
    what = f"kernel driver {kernel}"
    if drivers.libmali:
        unusable = f"{drivers.libmali[0]} needs the vendor's kernel driver mali, which this kernel does not run"
        yield Finding("warning", what, unusable)
    if any(device.platform == RUSTICL and device.kind == "gpu" for device in devices):
        yield Finding("ok", what, "rusticl, Mesa's OpenCL, uses it")
        return
    driver = MESA[kernel]
    if not any("rusticl" in name for name in drivers.vendors):
        remedy = ("sudo apt install mesa-opencl-icd",)
        yield Finding("error", what, "rusticl, Mesa's OpenCL for it, is not installed", remedy)
    elif driver not in drivers.variables.get("RUSTICL_ENABLE", "").split(","):
        needed = ".".join(map(str, BY_DEFAULT))
        text = f"rusticl is installed, but Mesa before {needed} uses this GPU only with RUSTICL_ENABLE={driver}"
        yield Finding("error", what, text, switched_on(f"RUSTICL_ENABLE={driver}"))
    else:
        text = "rusticl is installed and switched on, but lists no GPU: may this user open the device file above?"
        yield Finding("error", what, text, ("sudo dmesg | grep -i -e panfrost -e panthor",))


def switched_on(setting: str) -> tuple[str, ...]:
    """Return the commands that give an environment variable to a shell, and to the service."""
    return f"export {setting}", f"{SERVICE}{setting}"


def _vendor_driver(drivers: Drivers, devices: Sequence[ExaminedDevice]) -> Iterator[Finding]:
    if any(device.platform == ARM for device in devices):
        yield Finding("ok", "kernel driver mali", "libmali, the vendor's OpenCL, uses it")
    elif drivers.libmali:
        library = drivers.libmali[0]
        remedy = (f"echo {library} | sudo tee /etc/OpenCL/vendors/mali.icd",)
        text = (
            f"{library} is there, but lists no device: /etc/OpenCL/vendors must name it, in the kernel's version"
        )
        yield Finding("error", "kernel driver mali", text, remedy)
    else:
        text = "the vendor's libmali, which it needs, is not installed: take it from the board's maker"
        yield Finding("error", "kernel driver mali", text)


def judge_devices(facts: Facts) -> Iterator[Finding]:
    """Judge each device; the reason why there is none comes first."""
    yield from in_section("Devices", _no_devices(facts))
    for device in facts.devices:
        busy = any(worker.device == device.name and worker.serving for worker in facts.workers)
        yield from in_section(f"Device {device.name}", _device(device, busy=busy))


def _no_devices(facts: Facts) -> Iterator[Finding]:
    if facts.devices_problem:
        vendors = facts.drivers.vendors if len(facts.drivers.vendors) > 1 else ()
        remedy = tuple(f"OCL_ICD_VENDORS=/etc/OpenCL/vendors/{name} {own_command()} doctor" for name in vendors)
        text = f"{facts.devices_problem}; remove or update the driver" + ": try one at a time" * bool(remedy)
        yield Finding("error", "OpenCL", text, remedy)
    elif not facts.devices and "OCL_ICD_VENDORS" in facts.drivers.variables:
        text = f"no device in {facts.drivers.variables['OCL_ICD_VENDORS']}, which OCL_ICD_VENDORS names"
        yield Finding("error", "OpenCL", text, ("unset OCL_ICD_VENDORS",))
    elif not facts.devices:
        yield Finding("warning", "OpenCL", "no device: NumPy computes, which is slow")


def _device(device: ExaminedDevice, *, busy: bool) -> Iterator[Finding]:
    units = counted(device.compute_units, "unit")
    described = f"{device.platform}, {device.version}, driver {device.driver}; {units}"
    yield Finding("ok", "device", f"{described}, {'fp16' if device.fp16 else 'no fp16'}")
    for defect in known_defects(device):
        remedy = (defect.remedy,) if defect.remedy else ()
        text = f"{defect.what} ({defect.source}); {defect.workaround}"
        yield Finding("error" if remedy else "warning", "known defect", text, remedy)
    if device.platform == RUSTICL and device.kind == "gpu" and not device.fp16:
        text = "this Mesa loads halves one by one: precision fp16 and fp16-weights make more accesses than fp32"
        yield Finding("warning", "fp16", text, switched_on("RUSTICL_FEATURES=fp16"))
    if busy:
        yield Finding("warning", "in use", "the daemon computes on it: the figures below are too low")
    yield from _self_test(device)


def _self_test(device: ExaminedDevice) -> Iterator[Finding]:
    figures = {each.step: each.figures for each in device.tried if not each.problem}
    if speed := _speed(figures):
        yield Finding("ok", "speed", speed)
    if "digits" in figures:
        found = figures["digits"]["seconds"]
        yield Finding("ok", "digits", f"{short_number(1 / found)} frames per second, measured")
    if "estimates" in figures:
        estimates = [f"{NAMES[name]} {short_number(each)}" for name, each in figures["estimates"].items()]
        text = f"{', '.join(estimates)} frames per second, computed from this speed"
        yield Finding("ok", "estimates", text)
    compared = [each for each in device.tried if not each.problem and "error" in each.figures]
    if compared:
        worst = max(each.figures["error"] for each in compared)
        runs = sum(each.step.startswith(("plain", "mobile")) for each in device.tried)
        agree = f"{len(compared)} of {counted(runs, 'run')} of two small networks agree with it"
        text = f"{agree}; scores within {worst:.0e} of their range"
        yield Finding("ok", "reference", text)
    for each in device.tried:
        if each.problem:
            yield _failed(device, each)


def _speed(figures: Mapping[str, Mapping[str, float]]) -> str:
    parts = []
    if "peaks" in figures:
        peaks = figures["peaks"]
        flops, nbytes = (short_number(peaks[what] / 1e9) for what in ("flops_per_s", "bytes_per_s"))
        parts.append(f"{flops} GFLOP/s, {nbytes} GB/s")
    if "launches" in figures:
        launches = figures["launches"]
        together, alone = (short_number(launches[what] * 1e6) for what in ("launch_s", "alone_s"))
        parts.append(f"a launch {together} µs, alone {alone} µs")
    return ", ".join(parts)


def _failed(device: ExaminedDevice, failed: TriedStep) -> Finding:
    """Report a failed step. A variant that is wrong or crashes is one that edged does not use there."""
    is_default = failed.step.endswith(("auto", "digits"))
    text = f"self-test, {failed.step}: {failed.problem.removeprefix(f'{device.name}: ')}"
    if not is_default:
        return Finding("warning", "failed", text)
    remedy = ("edged devices  # workers: names the device, numpy needs no driver",)
    return Finding("error", "failed", f"{text}; use another device, or update the driver", remedy)
