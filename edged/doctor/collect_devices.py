"""List the OpenCL devices and test each: its peaks, the cost of a launch, and small networks by all variants.

A driver may crash as soon as it is loaded, or in a test, so both run in other processes. That of a test adds each
result to a file, so that the steps before a crash are known, and the ones behind it run in the next process.
"""

import json
import os
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edged.doctor.facts import ExaminedDevice, TriedStep
from edged.errors import DeviceError
from edged.runtime.drivers import list_apart

if TYPE_CHECKING:
    from edged.engine.device import Device

SHOWN = ("platform", "name", "kind", "version", "driver", "fp16", "compute_units", "memory_bytes")
SELF_TEST = "edged.doctor.self_test"
LIMIT_S = 600.0  # of one process: the first time, the driver compiles all kernels
MOST_CRASHES = 3

STEPS = (
    "peaks",
    "launches",
    "digits",
    "plain auto",
    "plain naive",
    "plain vector",
    "plain winograd",
    "plain general",
    "plain halves",
    "mobile auto",
    "mobile general",
    "estimates",
)


def read_devices(show: Callable[[str], None]) -> tuple[tuple[ExaminedDevice, ...], str]:
    """List and test every device; also return why none could be listed. `show`: called with the progress."""
    listed, problem = list_apart()
    return tuple(_tested(device, show) for device in listed), problem


def _tested(listed: dict[str, Any], show: Callable[[str], None]) -> ExaminedDevice:
    from edged.engine.apart import device_of

    device = device_of(listed)
    tried = try_device(
        device, lambda step: show(f"testing {device.name}: {step}; the first time, kernels compile")
    )
    return ExaminedDevice(**{name: listed[name] for name in SHOWN}, tried=tried)


def try_device(device: "Device", show: Callable[[str], None]) -> tuple[TriedStep, ...]:
    """Run all steps on `device`, and return their results, also of those that fail. `show`: of progress."""
    done: dict[str, TriedStep] = {}
    for _ in range(MOST_CRASHES):
        show(f"{len(done)} of {len(STEPS)} steps")
        found, problem = _run(device, [step for step in STEPS if step not in done])
        done |= {each.step: each for each in found}
        rest = [step for step in STEPS if step not in done]
        if not rest:
            break
        done[rest[0]] = TriedStep(rest[0], problem=problem or "no result")
    return tuple(done[step] for step in STEPS if step in done)


def _run(device: "Device", steps: Collection[str]) -> tuple[list[TriedStep], str]:
    """Run these steps in one process. Return their results, and why it ended early; empty: it did not."""
    from edged.engine.apart import run_apart

    handle, name = tempfile.mkstemp(prefix="edged-doctor-")
    os.close(handle)
    report, problem = Path(name), ""
    try:
        request = {"steps": " / ".join(steps), "report": name}
        run_apart(SELF_TEST, device, request, "self-test", LIMIT_S)
    except DeviceError as error:
        problem = str(error)
    try:
        return [TriedStep(**json.loads(line)) for line in report.read_text().splitlines()], problem
    finally:
        report.unlink()
