"""edged.service in the machine, as an administrator sees it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.eventually import eventually

DROP_IN = Path("/run/systemd/system/edged.service.d/one-test.conf")
CONFIG = Path("/etc/edged/edged.yaml")
STUCK = Path("/etc/edged/stuck")


def systemctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemctl", *arguments], capture_output=True, text=True, timeout=120, check=False)


def prop(name: str, unit: str = "edged") -> str:
    """A property of the unit, as `systemctl show` prints it."""
    return systemctl("show", unit, f"--property={name}", "--value").stdout.strip()


def hub() -> int:
    """The main process; 0 where there is none."""
    return int(prop("MainPID"))


def kill(number: signal.Signals) -> int:
    """Send a signal to the hub; who that was."""
    pid = hub()
    os.kill(pid, number)
    return pid


def wait_until_ready_again(before: int) -> None:
    """Until another hub than `before` has said READY."""
    eventually(lambda: _is_ready_again(before))


def _is_ready_again(before: int) -> bool:
    time.sleep(0.1)  # asking costs more than a hub does, which needs the core itself
    told = systemctl("show", "edged", "--property=ActiveState,MainPID").stdout.split()
    return "ActiveState=active" in told and not {"MainPID=0", f"MainPID={before}"} & set(told)


def journal(since: float) -> list[dict[str, Any]]:
    """What the journal has of the unit since then, systemd's own words included."""
    subprocess.run(["journalctl", "--sync"], check=False)
    command = ["journalctl", "--unit=edged", f"--since=@{since:.6f}", "--output=json", "--no-pager"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    return [json.loads(line) for line in lines]


def text(since: float) -> str:
    return "\n".join(str(entry.get("MESSAGE")) for entry in journal(since))


def say(settings: str) -> None:
    """Settings of the unit for one test."""
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    DROP_IN.write_text(f"[Service]\n{settings}\n")
    systemctl("daemon-reload")


def start() -> float:
    """Start it anew; when that was."""
    systemctl("stop", "edged")
    since = time.time()
    done = systemctl("start", "edged")
    assert done.returncode == 0, done.stderr + text(since)
    return since


def wait_for(words: str, since: float) -> None:
    """Until the journal has these words."""
    eventually(lambda: words in text(since))


def teach(action: str, *options: str) -> None:
    """Run `edged teach` as the service's user, with the folders of docs/how-to/teaching.md."""
    reach = ["--property=ProtectHome=tmpfs", f"--property=BindReadOnlyPaths={sys.base_prefix}"]
    folders = ["STATE_DIRECTORY=/var/lib/edged", "RUNTIME_DIRECTORY=/run/edged", "PYTHONPATH=/opt/checkout"]
    as_user = ["systemd-run", "--quiet", "--wait", "--pipe", "--uid=edged", *reach]
    edged = [*(f"--setenv={each}" for each in folders), "/opt/edged/bin/python", "-m", "edged"]
    command = [*as_user, *edged, "teach", action, str(CONFIG), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
