"""A machine without a network in which packages are installed: this host's root, systemd as PID 1."""

import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.systemd.machine import booted

CHECKS = "tests/deploy/deb/inside/checks.py"
WITHIN_S = 600
PYTHON = "/opt/tests/bin/python"  # the tests' own; the package has another
TESTS = f"""[Unit]
SuccessAction=exit-force
FailureAction=exit-force
Wants=dbus.service
After=dbus.service
[Service]
Type=oneshot
TimeoutStartSec={WITHIN_S}
StandardOutput=append:/opt/results/output
StandardError=inherit
WorkingDirectory=/opt/checkout
Environment=PYTHONDONTWRITEBYTECODE=1 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
ExecStart={PYTHON} -m pytest -q -x -p no:cacheprovider --durations=0 {CHECKS}
"""


def run_checks(folder: Path, packages: Path) -> tuple[int, str]:
    """Boot, run the checks there on the packages of a folder, and end: the exit code and what they printed."""
    (folder / "results").mkdir()
    units = folder / "stage/etc/systemd/system"
    units.mkdir(parents=True)
    (units / "edged-test.service").write_text(TESTS)
    binds = [
        f"--bind-ro={ROOT}:/opt/checkout",
        f"--bind-ro={sys.prefix}:/opt/tests",
        f"--bind-ro={packages}:/opt/packages",
    ]
    with booted(folder, "edged-test.service", *binds, f"--bind={folder}/results:/opt/results") as machine:
        code = machine.wait(WITHIN_S + 30)
    output = folder / "results/output"
    return code, (output if output.exists() else folder / "console").read_text()
