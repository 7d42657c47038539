"""List the OpenCL devices in a process of their own, since a driver may crash as soon as it is loaded.

`python -m edged.cli.device_listing FILE` is that process.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edged.hub.children.child import describe_exit

LISTING = "edged.cli.device_listing"
LIST_S = 180.0  # most is spent on reading files from a slow card
STUCK = f"a driver did not list its devices within {LIST_S:g} s"


def list_apart() -> tuple[list[dict[str, Any]], str]:
    """List the devices in another process; also return why none could be listed."""
    with tempfile.TemporaryDirectory(prefix="edged-doctor-") as folder:
        report = Path(folder) / "devices.json"
        try:
            done = _run_listing(report)
        except subprocess.TimeoutExpired:
            return [], STUCK
        if done.returncode:
            return [], f"the OpenCL devices cannot be listed: {why_ended(done)}"
        return json.loads(report.read_text()), ""


def why_drivers_may_not_be_loaded() -> str:
    """Return how a driver ends or blocks another process that loads it; empty if none does."""
    try:
        done = _run_listing(Path(os.devnull))
    except subprocess.TimeoutExpired:
        return STUCK
    return f"the OpenCL devices cannot be listed: {why_ended(done)}" if done.returncode < 0 else ""


def why_ended(done: "subprocess.CompletedProcess[str]") -> str:
    """Return how it ended, and the last line that it wrote on standard error."""
    last = "".join(done.stderr.strip().splitlines()[-1:])
    crash = " (a driver crashes)" if done.returncode < 0 else ""
    return f"its process {describe_exit(done.returncode)}{crash}{f': {last}' if last else ''}"


def _run_listing(report: Path) -> "subprocess.CompletedProcess[str]":
    command = (sys.executable, "-m", LISTING, str(report))
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIST_S)


def main() -> None:
    """Write the devices as JSON into the file that the argument names."""
    from edged.engine.device import list_devices

    Path(sys.argv[1]).write_text(json.dumps([asdict(device) for device in list_devices()]))


if __name__ == "__main__":
    main()
