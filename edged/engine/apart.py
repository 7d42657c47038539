"""Run what may end its process, as compilers of OpenCL do, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from edged.engine.device import Device
from edged.errors import DeviceError
from edged.system.process_end import die_with

LIMIT_S = 600.0


def run_apart(
    module: str, device: Device, request: Mapping[str, Any], doing: str, within_s: float = LIMIT_S
) -> None:
    """Run `module` with a request, which it reads by `read_request`, and wait for it.

    Raises DeviceError if it fails while `doing` that, or takes longer than `within_s`.
    """
    content = json.dumps({"parent": os.getpid(), "device": asdict(device), "request": dict(request)})
    command = (sys.executable, "-m", module)
    try:
        done = subprocess.run(command, input=content.encode(), capture_output=True, check=False, timeout=within_s)
    except subprocess.TimeoutExpired:
        raise DeviceError(f"{device.name}: no {doing}: its process did not end within {within_s:g} s") from None
    except (OSError, subprocess.SubprocessError) as error:
        raise DeviceError(f"{device.name}: no {doing}: {error}") from error
    if done.returncode:
        raise DeviceError(f"{device.name}: no {doing}: {_reason(done)}")


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the compiler's message if there is one, else the last line, else what ended the process."""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    last = next((line.strip() for line in lines if "error:" in line), "\n".join(lines[-1:]))
    if done.returncode < 0:
        ended = f"the driver ended its process by {signal.Signals(-done.returncode).name}"
        return f"{ended}: {last}" if last else ended
    return last or f"exit status {done.returncode}"


def read_request() -> tuple[Device, Mapping[str, Any]]:
    """Return the device and the request of the parent, with whose end this process ends."""
    content = json.load(sys.stdin)
    die_with(content["parent"])
    return device_of(content["device"]), content["request"]


def device_of(described: Mapping[str, Any]) -> Device:
    """Return the device of which this is `asdict`, from JSON."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in described.items()
    }
    return Device(**fields)
