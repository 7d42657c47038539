"""The config as `edged check` sees it, the systemd unit, and the daemon that runs now."""

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

from edged.config import Config
from edged.doctor.facts import RunningWorker, ServiceUnit
from edged.doctor.finding import Finding
from edged.runtime.drivers import why_ended

CHECK_S = 1200.0  # it may have to compile the model for several devices
ANSWER_S = 2.0
LARGEST_BYTES = 10_000_000
UNIT = "edged.service"
PROPERTIES = (
    "LoadState",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "Result",
    "NRestarts",
    "SupplementaryGroups",
)
WORKER = re.compile(r"^edged_worker_(up|serving)\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def run_check(file: Path) -> tuple[Finding, ...]:
    """Run `edged check` in another process, since it opens devices and cameras, and return its findings."""
    command = (sys.executable, "-m", "edged", "check", "--json", str(file))
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=CHECK_S)
        return tuple(Finding.of(each) for each in json.loads(done.stdout)["findings"])
    except subprocess.TimeoutExpired:
        return (Finding("error", "check", f"`edged check` did not end within {CHECK_S:g} s"),)
    except (ValueError, KeyError, TypeError):
        return (Finding("error", "check", f"`edged check` has no result: {why_ended(done)}"),)


def read_unit() -> ServiceUnit | None:
    """Return the state of the systemd service; None where there is no systemd, or no such unit."""
    if not shutil.which("systemctl") or not Path("/run/systemd/system").is_dir():
        return None
    command = ("systemctl", "show", UNIT, f"--property={','.join(PROPERTIES)}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=ANSWER_S)
    except subprocess.SubprocessError:
        return None
    shown = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if shown.get("LoadState") != "loaded":
        return None
    return ServiceUnit(
        state=f"{shown['ActiveState']} ({shown['SubState']})",
        enabled=shown["UnitFileState"],
        result=shown["Result"],
        restarts=shown["NRestarts"],
        groups=tuple(shown["SupplementaryGroups"].split()),
    )


def read_workers(running: Config | None) -> tuple[RunningWorker, ...]:
    """Return the workers of the running daemon from its metrics; none where these need a certificate."""
    if running is None or running.metrics.tls is not None:
        return ()
    try:
        with urllib.request.urlopen(f"http://{running.metrics.address}/metrics", timeout=ANSWER_S) as answer:
            return workers_in(answer.read(LARGEST_BYTES).decode())
    except (OSError, ValueError):
        return ()


def workers_in(metrics: str) -> tuple[RunningWorker, ...]:
    """Read the workers out of the text of /metrics."""
    devices: dict[str, str] = {}
    ready: set[str] = set()
    serving: set[str] = set()
    for what, labels, value in WORKER.findall(metrics):
        found = dict(LABEL.findall(labels))
        if what == "up":
            devices[found["worker"]] = found["device"]
        if float(value):
            (ready if what == "up" else serving).add(found["worker"])
    return tuple(RunningWorker(name, device, name in ready, name in serving) for name, device in devices.items())
