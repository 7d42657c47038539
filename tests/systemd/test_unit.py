"""What systemd says of the units before they are ever started."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from trials.vm.image import EXTRAS

UNITS = ROOT / "systemd"
OTHERS = (
    "edged-worker.service",
    "edged-camera@.service",
    "edged-bridge@.service",
    "edged-fleet.service",
    "edged-view.service",
    "edged-compile.service",
)
NEEDED = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def a_unit(folder: Path, name: str) -> Path:
    """The unit, with a program that is there."""
    program = folder / "bin/edged"
    program.parent.mkdir()
    program.symlink_to("/bin/true")
    unit = folder / name
    unit.write_text((UNITS / name).read_text().replace("/opt/edged", str(folder)))
    return unit


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The daemon's."""
    return a_unit(tmp_path, "edged.service")


def settings(name: str) -> set[str]:
    """Its lines from `Everything that … can do without` on: how it is hardened."""
    text = (UNITS / name).read_text().partition("can do without\n")[2].partition("[Install]")[0]
    return {line for line in text.splitlines() if line and not line.startswith("#")}


def with_drop_in(unit: Path, name: str) -> None:
    """The unit as the drop-in changes it: `--offline` reads one file."""
    unit.write_text(unit.read_text() + (UNITS / "edged.service.d" / name).read_text())


@NEEDED
@pytest.mark.parametrize("name", ["edged.service", *OTHERS])
def test_systemd_has_nothing_to_say_against_it(tmp_path: Path, name: str) -> None:
    done = analyze("verify", "--man=no", a_unit(tmp_path, name))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@NEEDED
@pytest.mark.parametrize("name", ["edged.service", *OTHERS])
def test_it_is_hardened_to_1_5_at_most(tmp_path: Path, name: str) -> None:
    done = analyze("security", "--offline=true", "--threshold=15", "--no-pager", a_unit(tmp_path, name))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_units_are_hardened_as_the_daemon_is(name: str) -> None:
    hardened = settings("edged.service")
    assert len(hardened) > 10
    apart = settings(name) ^ hardened
    assert all(line.startswith("SystemCallFilter=sched_") for line in apart)


def test_a_camera_may_open_no_gpu_and_a_worker_no_camera_and_a_bridge_or_page_neither() -> None:
    worker, camera, bridge, fleet, view, compiles = ((UNITS / name).read_text() for name in OTHERS)
    for text in (bridge, view):
        assert "DeviceAllow" not in text
        assert "PrivateDevices=yes" in text
    assert "char-81" not in worker + fleet + compiles
    assert not any(device in camera for device in ("char-226", "dma_heap", "mali"))


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


def test_make_install_installs_the_extras_that_whole_machines_have_ready() -> None:
    assert f"'.[{','.join(EXTRAS)}]'" in (ROOT / "tools/install.sh").read_text()
