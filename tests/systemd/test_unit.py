"""What systemd says of the unit before it is ever started."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

UNITS = ROOT / "systemd"
NEEDED = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit, with a program that is there."""
    program = tmp_path / "bin/edged"
    program.parent.mkdir()
    program.symlink_to("/bin/true")
    unit = tmp_path / "edged.service"
    unit.write_text((UNITS / "edged.service").read_text().replace("/opt/edged", str(tmp_path)))
    return unit


def with_drop_in(unit: Path, name: str) -> None:
    """The unit as the drop-in changes it: `--offline` reads one file."""
    unit.write_text(unit.read_text() + (UNITS / "edged.service.d" / name).read_text())


@NEEDED
def test_systemd_has_nothing_to_say_against_it(unit: Path) -> None:
    done = analyze("verify", "--man=no", unit)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@NEEDED
def test_it_is_hardened_to_1_5_at_most(unit: Path) -> None:
    done = analyze("security", "--offline=true", "--threshold=15", "--no-pager", unit)
    assert done.returncode == 0, done.stdout


@NEEDED
def test_and_to_1_7_for_drivers_that_write_and_execute_memory(unit: Path) -> None:
    with_drop_in(unit, "writable-executable-memory.conf")
    assert analyze("verify", "--man=no", unit).stderr == ""
    done = analyze("security", "--offline=true", "--threshold=17", "--no-pager", unit)
    assert done.returncode == 0, done.stdout
    assert "✗ MemoryDenyWriteExecute=" in done.stdout


def test_cameras_and_gpus_are_allowed_by_numbers_which_hold_before_their_driver_is_loaded() -> None:
    allowed = [line for line in (UNITS / "edged.service").read_text().splitlines() if "DeviceAllow=char-" in line]
    assert {"DeviceAllow=char-81 rw", "DeviceAllow=char-226 rw"} < set(allowed)  # see the kernel's devices.txt


def test_each_relaxation_is_explained_by_a_comment_above_it() -> None:
    lines = (UNITS / "edged.service").read_text().splitlines()
    for relaxed in ("PrivateDevices=no", "RestrictAddressFamilies=", "SystemCallFilter=sched_", "LimitMEMLOCK="):
        place = next(number for number, line in enumerate(lines) if line.startswith(relaxed))
        assert lines[place - 1].startswith("#"), relaxed
