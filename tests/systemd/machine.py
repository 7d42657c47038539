"""A machine of its own for the service: this host's root below a throw-away layer, systemd as PID 1."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.models import small_network
from tests.conftest import ROOT
from tests.eventually import LIMIT_S

BOOT = Path(__file__).with_name("machine.sh")
CHECKS = "tests/systemd/inside/checks.py"
WITHIN_S = 500

# The program and its Python are this checkout's and the tests', wherever they are.
EDGED = "/opt/edged/bin/python -m edged"
UNITS = {
    "edged.service": f"""ExecStart={EDGED} run /etc/edged/edged.yaml
ExecReload=
ExecReload={EDGED} reload /etc/edged/edged.yaml
""",
    "edged-worker.service": f"ExecStart={EDGED} worker --config /etc/edged/edged.yaml\n",
    "edged-compile.service": f"ExecStart={EDGED} compile /etc/edged/edged.yaml\n",
    "edged-camera@.service": f"ExecStart={EDGED} camera %i --config /etc/edged/edged.yaml\n",
}
FOR_TESTS = f"""[Service]
Environment=PYTHONPATH=/opt/checkout PYTHONDONTWRITEBYTECODE=1 OCL_ICD_VENDORS=/etc/OpenCL/vendors
ProtectHome=tmpfs
BindReadOnlyPaths={sys.base_prefix}
RestartSec=10ms
ExecStart=
"""

TESTS = """[Unit]
SuccessAction=exit-force
FailureAction=exit-force
Wants=dbus.service systemd-sysusers.service systemd-tmpfiles-setup.service
After=dbus.service systemd-sysusers.service systemd-tmpfiles-setup.service
[Service]
Type=oneshot
TimeoutStartSec={within_s}
StandardOutput=append:/opt/results/output
StandardError=inherit
WorkingDirectory=/opt/checkout
Environment=PYTHONDONTWRITEBYTECODE=1 EDGED_KILLS={kills}
ExecStart=/opt/edged/bin/python -m pytest -q -p no:cacheprovider --durations=0 {checks}
"""


def why_not() -> str:
    """Why this host cannot start such a machine; empty where it can."""
    if os.getuid() != 0:
        return "it needs root"
    if absent := [name for name in ("systemd-nspawn", "systemctl", "unshare") if shutil.which(name) is None]:
        return f"{', '.join(absent)} not installed"
    probe = 'mount -t tmpfs none "$0" && mkdir "$0/u" "$0/w" "$0/r" && mount -t overlay o "$0/r" -o "$1"'
    options = "lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w"
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", probe, "/mnt", options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stderr.strip()


def run_checks(folder: Path, kills: int) -> tuple[int, str]:
    """Boot, run every test there, and end: the exit code and what they printed."""
    (folder / "results").mkdir()
    _stage(folder / "stage", kills)
    binds = [f"--bind-ro={ROOT}:/opt/checkout", f"--bind-ro={sys.prefix}:/opt/edged"]
    with booted(folder, "edged-test.service", *binds, f"--bind={folder}/results:/opt/results") as machine:
        code = machine.wait(WITHIN_S + 30)
    output = folder / "results/output"
    return code, (output if output.exists() else folder / "console").read_text()


@contextmanager
def booted(folder: Path, unit: str, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A machine with folder/stage over this host's root; it ends with the block. `options`: of systemd-nspawn."""
    command = ["unshare", "--mount", "--propagation", "private", "sh", str(BOOT), str(folder), unit, *options]
    with (folder / "console").open("w") as console:
        machine = subprocess.Popen(command, stdout=console, stderr=console, start_new_session=True)
        try:
            yield machine
        finally:
            machine.terminate()  # SIGTERM lets it end all that is in it
            machine.wait(LIMIT_S)


def _stage(stage: Path, kills: int) -> None:
    units, etc = stage / "etc/systemd/system", stage / "etc"
    for name in ("sysusers", "tmpfiles"):
        (etc / f"{name}.d").mkdir(parents=True)
        shutil.copy(ROOT / f"systemd/{name}.conf", etc / f"{name}.d/edged.conf")
    for name, commands in UNITS.items():
        (units / f"{name}.d").mkdir(parents=True)
        shutil.copy(ROOT / f"systemd/{name}", units)
        (units / f"{name}.d/for-tests.conf").write_text(FOR_TESTS + commands)
    (units / "edged-test.service").write_text(TESTS.format(within_s=WITHIN_S, kills=kills, checks=CHECKS))
    (etc / "edged").mkdir()
    small_network(etc / "edged/small.onnx")
    config = {
        "node": "machine",
        "cameras": {"demo": {"source": "synthetic:digits", "size": [160, 120], "fps": 10}},
        "model": {"path": "/etc/edged/small.onnx"},
        "workers": [{"device": "numpy"}],
    }
    (etc / "edged/edged.yaml").write_text(json.dumps(config))
