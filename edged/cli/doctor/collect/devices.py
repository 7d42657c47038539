"""The OpenCL devices, listed and tested in other processes: a driver may crash as soon as it is loaded."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from edged.cli.doctor.facts import ExaminedDevice
from edged.hub.children.child import describe_exit

LISTING = "edged.cli.doctor.collect.listing_process"
LIST_S = 180.0  # most is spent on reading files from a slow card
SHOWN = ("platform", "name", "kind", "version", "driver", "fp16", "compute_units", "memory_bytes")


def why_ended(done: "subprocess.CompletedProcess[str]") -> str:
    """Return how it ended, and the last line that it wrote on standard error."""
    last = "".join(done.stderr.strip().splitlines()[-1:])
    crash = " (a driver crashes)" if done.returncode < 0 else ""
    return f"its process {describe_exit(done.returncode)}{crash}{f': {last}' if last else ''}"


def read_devices(show: Callable[[str], None]) -> tuple[tuple[ExaminedDevice, ...], str]:
    """List and test every device; also return why none could be listed. `show`: called with the progress."""
    listed, problem = _list()
    return tuple(_tested(device, show) for device in listed), problem


def _list() -> tuple[list[dict[str, Any]], str]:
    with tempfile.TemporaryDirectory(prefix="edged-doctor-") as folder:
        report = Path(folder) / "devices.json"
        command = (sys.executable, "-m", LISTING, str(report))
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIST_S)
        except subprocess.TimeoutExpired:
            return [], f"a driver did not list its devices within {LIST_S:g} s"
        if done.returncode:
            return [], f"the OpenCL devices cannot be listed: {why_ended(done)}"
        return json.loads(report.read_text()), ""


def _tested(listed: dict[str, Any], show: Callable[[str], None]) -> ExaminedDevice:
    from edged.cli.doctor.collect.self_test import try_device
    from edged.engine.apart import device_of

    device = device_of(listed)
    tried = try_device(
        device, lambda step: show(f"testing {device.name}: {step}; the first time, kernels compile")
    )
    return ExaminedDevice(**{name: listed[name] for name in SHOWN}, tried=tried)
