"""Judge the OpenCL devices: their self-tests, and the defects that their drivers are known for."""

from collections.abc import Iterator, Mapping

from edged.cli.doctor.facts import ExaminedDevice, Facts, Judgement, TriedStep
from edged.cli.doctor.judge.defects import known_defects

NAMES = {"digits": "digits", "mobilenetv2": "MobileNetV2@224", "resnet50": "ResNet-50@120"}


def judge_devices(facts: Facts) -> Iterator[Judgement]:
    """Judge each device; the reason why there is none comes first."""
    if facts.devices_problem:
        vendors = facts.drivers.vendors if len(facts.drivers.vendors) > 1 else ()
        remedy = tuple(f"OCL_ICD_VENDORS=/etc/OpenCL/vendors/{name} edged doctor" for name in vendors)
        text = f"{facts.devices_problem}; remove or update the driver" + ": try one at a time" * bool(remedy)
        yield Judgement("Devices", "mend", "OpenCL", text, remedy)
    elif not facts.devices and "OCL_ICD_VENDORS" in facts.drivers.variables:
        text = f"no device in {facts.drivers.variables['OCL_ICD_VENDORS']}, which OCL_ICD_VENDORS names"
        yield Judgement("Devices", "mend", "OpenCL", text, ("unset OCL_ICD_VENDORS",))
    elif not facts.devices:
        yield Judgement("Devices", "note", "OpenCL", "no device: NumPy computes, which is slow")
    for device in facts.devices:
        busy = any(worker.device == device.name and worker.serving for worker in facts.workers)
        yield from _device(device, busy=busy)


def _device(device: ExaminedDevice, *, busy: bool) -> Iterator[Judgement]:
    section = f"Device {device.name}"
    described = f"{device.platform}, {device.version}, driver {device.driver}; {device.compute_units} units"
    yield Judgement(section, "ok", "device", f"{described}, {'fp16' if device.fp16 else 'no fp16'}")
    for defect in known_defects(device):
        remedy = (defect.remedy,) if defect.remedy else ()
        text = f"{defect.what} ({defect.source}); {defect.workaround}"
        yield Judgement(section, "mend" if remedy else "note", "known defect", text, remedy)
    if busy:
        yield Judgement(section, "note", "in use", "the daemon computes on it: the figures below are too low")
    yield from _self_test(section, device)


def _self_test(section: str, device: ExaminedDevice) -> Iterator[Judgement]:
    figures = {each.step: each.figures for each in device.tried if not each.problem}
    if speed := _speed(figures):
        yield Judgement(section, "ok", "speed", speed)
    if "digits" in figures:
        found = figures["digits"]["seconds"]
        yield Judgement(section, "ok", "digits", f"{1 / found:.0f} frames per second, measured")
    if "estimates" in figures:
        estimates = [
            f"{NAMES[name]} {each:.{0 if each >= 10 else 1}f}" for name, each in figures["estimates"].items()
        ]
        text = f"{', '.join(estimates)} frames per second, computed from this speed"
        yield Judgement(section, "ok", "estimates", text)
    compared = [each for each in device.tried if not each.problem and "error" in each.figures]
    if compared:
        worst = max(each.figures["error"] for each in compared)
        runs = f"{len(compared)} of {_compared(device)} runs of two small networks agree with it"
        text = f"{runs}; scores within {worst:.0e} of their range"
        yield Judgement(section, "ok", "reference", text)
    for each in device.tried:
        if each.problem:
            yield _failed(section, device, each)


def _compared(device: ExaminedDevice) -> int:
    return sum(each.step.startswith(("plain", "mobile")) for each in device.tried)


def _speed(figures: Mapping[str, Mapping[str, float]]) -> str:
    parts = []
    if "peaks" in figures:
        peaks = figures["peaks"]
        parts.append(f"{peaks['flops_per_s'] / 1e9:.0f} GFLOP/s, {peaks['bytes_per_s'] / 1e9:.1f} GB/s")
    if "launches" in figures:
        launches = figures["launches"]
        parts.append(f"a launch {launches['launch_s'] * 1e6:.0f} µs, alone {launches['alone_s'] * 1e6:.0f} µs")
    return ", ".join(parts)


def _failed(section: str, device: ExaminedDevice, failed: TriedStep) -> Judgement:
    """Report a failed step. A variant that is wrong or crashes is one that edged does not use there."""
    is_default = failed.step.endswith(("auto", "digits"))
    text = f"self-test, {failed.step}: {failed.problem.removeprefix(f'{device.name}: ')}"
    if not is_default:
        return Judgement(section, "note", "failed", text)
    remedy = ("edged devices  # workers: names the device, numpy needs no driver",)
    return Judgement(section, "mend", "failed", f"{text}; use another device, or update the driver", remedy)
