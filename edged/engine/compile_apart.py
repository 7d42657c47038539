"""Compile a composition in another process: a compiler takes seconds and memory, and may end its process."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from edged.engine.device import Device
from edged.errors import DeviceError

LIMIT_S = 600.0
MODULE = "edged.engine.compiler_process"


def compile_apart(device: Device, cache: Path, source: str) -> None:
    """Compile `source` for `device` into the folder of programs `cache`. Raises DeviceError."""
    request = json.dumps({"parent": os.getpid(), "device": asdict(device), "cache": str(cache), "source": source})
    command = (sys.executable, "-m", MODULE)
    try:
        done = subprocess.run(command, input=request.encode(), capture_output=True, check=False, timeout=LIMIT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise DeviceError(f"{device.name}: no compilation for one launch: {error}") from error
    if done.returncode:
        last_line = done.stderr.decode(errors="replace").strip().rpartition("\n")[-1]
        raise DeviceError(f"{device.name}: no compilation for one launch: {last_line or done.returncode}")
