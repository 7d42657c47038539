"""`edged devices`: list the OpenCL devices, cameras and power rails of this host."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from edged.camera.discover import CameraFound, list_cameras
from edged.cli.options import add_example, add_json, add_sysfs
from edged.cli.slow_steps import SlowSteps
from edged.config import EnergyConfig
from edged.energy.find import Rails, find_rails
from edged.energy.meter import Meter, watts_over
from edged.energy.rails import Rail
from edged.errors import DeviceError
from edged.runtime.drivers import why_drivers_may_not_be_loaded
from edged.system.terminal import show

if TYPE_CHECKING:
    from edged.engine.device import Device

NUMPY_LINE = "NumPy: always available, slow (device: numpy)"
LIVE_S = 1.0

Watts = Mapping[str, float]  # watts by rail, of those that could be read all the time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sysfs(parser)
    add_json(parser)
    add_example(parser, "edged devices")


def run(arguments: argparse.Namespace) -> int:
    """Print what is found. Finding nothing is not an error."""
    with SlowSteps() as steps:
        steps.begin("opening the OpenCL drivers of this host; the first time takes longest")
        devices, problem = _list_devices()
        steps.begin("looking for cameras and power sensors")
        cameras, rails = list_cameras(), given_rails(arguments)
        watts = live_watts(rails)
        steps.begin("trying which instructions the devices compute")
        if arguments.json:
            print(json.dumps(_as_object(devices, cameras, rails, watts), ensure_ascii=False, default=str))
            return 0
        lines = [*_device_lines(devices, problem), NUMPY_LINE]
    _print_section("Devices (workers: device)", lines)
    _print_section("Cameras (cameras: source)", _camera_lines(cameras))
    _print_section("Power rails (energy: rails)", rail_lines(rails, watts))
    return 0


def _list_devices() -> "tuple[tuple[Device, ...], str]":
    """Return the OpenCL devices, and why there is none. Another process loads the drivers first: one may crash."""
    if problem := why_drivers_may_not_be_loaded():
        return (), problem
    from edged.runtime.select import opencl_devices

    try:
        return opencl_devices(), ""
    except DeviceError as error:
        return (), str(error)


def _print_section(title: str, lines: Sequence[str] | Iterator[str]) -> None:
    print(title)
    for line in lines:
        show(f"  {line}")


def _device_lines(devices: "Sequence[Device]", problem: str) -> Iterator[str]:
    for device in devices:
        memory = f"{device.memory_bytes / 2**30:.1f} GiB" + (
            " shared with the CPU" if device.unified_memory else ""
        )
        fp16 = "fp16" if device.fp16 else "no fp16"
        yield f"{device.name} ({device.kind}, {device.platform})"
        yield f"    {device.version}, driver {device.driver}"
        yield f"    {device.compute_units} compute units, {memory}, vectors of {device.vector_width}, {fp16}"
        yield from (f"    {line}" for line in _instruction_lines(device))
        yield from (f"    {line}" for line in _proof_lines(device))
    if problem:
        yield problem


def _instruction_lines(device: "Device") -> Iterator[str]:
    """List the dot products that kernels use, and those that the processor has but the device does not compute."""
    from edged.engine.instruction_trials import trials

    found = trials(device)
    if usable := [name for name, problem in found.items() if not problem]:
        yield f"multiplies small numbers by {', '.join(usable)}"
    yield from (f"not used: {problem}" for problem in found.values() if problem)


def _proof_lines(device: "Device") -> Iterator[str]:
    """List the networks on which the device agrees with the reference, and what it computes wrongly."""
    from edged.engine.proofs import Proofs
    from edged.runtime.proven import proofs_folder

    proofs = Proofs(proofs_folder(), device)
    newest = {(proof.model, proof.sha256, proof.part, proof.precision): proof for proof in proofs.all_proofs()}
    for proof in newest.values():
        which = ", ".join(filter(None, (proof.sha256[:12], proof.part, proof.proven_at[:10])))
        yield f"agrees with the reference on {proof.model} ({which}): {proof}"
    for wrong in proofs.wrong:
        yield f"computes wrongly, and is not used for: {wrong}"


def _camera_lines(cameras: Sequence[CameraFound]) -> Iterator[str]:
    for camera in cameras:
        note = camera.problem or ", ".join(camera.formats)
        yield f"{camera.path}: {camera.name}" + (f"; {note}" if note else "")
    if not cameras:
        yield "no V4L2 camera found (synthetic:digits, URLs, video files and folders need none)"


def _as_object(
    devices: "Sequence[Device]", cameras: Sequence[CameraFound], rails: Rails, watts: Mapping[str, float]
) -> dict[str, Any]:
    return {
        "devices": [_as_entry(device) for device in devices],
        "cameras": [asdict(camera) for camera in cameras],
        **rails_as_object(rails, watts),
    }


def _as_entry(device: "Device") -> dict[str, Any]:
    """`instructions`: each dot product of the processor with why it is not used; empty: it is."""
    from edged.engine.instruction_trials import trials
    from edged.engine.proofs import Proofs
    from edged.runtime.proven import proofs_folder

    proofs = Proofs(proofs_folder(), device)
    return {
        **asdict(device),
        "instructions": trials(device),
        "proofs": [proof.model_dump(mode="json") for proof in proofs.all_proofs()],
        "wrong": [wrong.model_dump(mode="json") for wrong in proofs.wrong],
    }


def given_rails(arguments: argparse.Namespace) -> Rails:
    """Find all rails below --sysfs."""
    return find_rails(EnergyConfig(sysfs=arguments.sysfs))


def live_watts(rails: Rails) -> Watts:
    """Measure the watts of each readable rail over a second; returns at once if there is none."""
    every = [*rails.rails, *rails.others]
    if not every:
        return {}
    meter = Meter(every)
    try:
        return watts_over(meter, LIVE_S)
    finally:
        meter.close()


def rail_lines(rails: Rails, watts: Watts) -> Iterator[str]:
    """Format one line for each rail, and how to make unreadable ones readable."""
    for rail in rails.rails:
        yield _line(rail, watts)
    for rail in rails.others:
        yield f"{_line(rail, watts)} (only if named: it overlaps with another rail)"
    for unreadable in rails.unreadable:
        yield f"{unreadable.name}: not readable: {unreadable.reason}: {unreadable.path}"
    remedies = dict.fromkeys(remedy for unreadable in rails.unreadable for remedy in unreadable.remedies)
    yield from (f"    {remedy}" for remedy in remedies)
    if not (rails.rails or rails.unreadable):
        yield f"none: {rails.note}"


def rails_as_object(rails: Rails, watts: Watts) -> dict[str, Any]:
    """Return the rails for JSON."""
    readable = [(rail, True) for rail in rails.rails] + [(rail, False) for rail in rails.others]
    return {
        "rails": [
            {
                "name": rail.name,
                "path": rail.path,
                "gives": rail.gives,
                "watts": watts.get(rail.name),
                "auto": auto,
            }
            for rail, auto in readable
        ],
        "unreadable_rails": [asdict(rail) for rail in rails.unreadable],
        "note": rails.note,
    }


def _line(rail: Rail, watts: Watts) -> str:
    now = f"{watts[rail.name]:.3g} W" if rail.name in watts else "no reading"
    files = " × ".join(map(str, [rail.path, rail.times] if rail.times else [rail.path]))
    return f"{rail.name}: {now}, {'energy' if rail.gives == 'joules' else 'power'}: {files}"
