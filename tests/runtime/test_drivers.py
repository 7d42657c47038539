"""Every command that opens a device survives a driver that crashes as it is loaded, and names it."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edged.cli import run_command_line
from edged.runtime import drivers
from edged.runtime.drivers import why_this_process_may_not_load_them
from tests.cli.command import edged
from tests.cli.models import small_network
from tests.e2e.injected_faults import can_preload
from tests.evaluation.pictures import picture
from tests.train.made_up import idx_folder

LISTING = """
import os, pathlib
pathlib.Path(__file__).with_name("loaded").open("a").write("once ")
if list(pathlib.Path(os.environ["OCL_ICD_VENDORS"]).glob("crash*")):
    os.abort()
"""
CRASH = "its process was killed by SIGABRT (a driver crashes: {crashing})"


@pytest.fixture
def vendors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of .icd files, and a loader for which each of the name `crash*` ends the process."""
    (tmp_path / "fake_listing.py").write_text(LISTING)
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "right.icd").write_text("libright.so")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("OCL_ICD_VENDORS", str(vendors))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(drivers, "LISTING", "fake_listing")
    why_this_process_may_not_load_them.cache_clear()
    yield vendors
    why_this_process_may_not_load_them.cache_clear()


@pytest.fixture
def ask(vendors: Path) -> Callable[[], tuple[str, bool]]:
    """Ask as a new process does; also return whether another process loaded the drivers first."""
    loaded = vendors.parent / "loaded"

    def ask() -> tuple[str, bool]:
        loaded.unlink(missing_ok=True)
        why_this_process_may_not_load_them.cache_clear()
        return why_this_process_may_not_load_them(), loaded.exists()

    return ask


OPENS_A_DEVICE = {
    "predict": ("PICTURE", "--device", "auto", "--model", "MODEL"),
    "bench": ("--runs", "1", "--model", "MODEL"),
    "profile": ("--runs", "1", "--model", "MODEL"),
    "verify": ("MODEL",),
    "tune": ("--model", "MODEL"),
    "eval": ("MODEL", "--data", "PICTURES"),
    "train": ("mnist-dense", "--data", "DIGITS", "--output", "OUTPUT"),
    "compress": ("MODEL", "--images", "PICTURES"),
    "batch": ("MODEL", "--input", "PICTURES", "--output", "OUTPUT"),
}


@pytest.mark.parametrize("verb", OPENS_A_DEVICE)
def test_a_command_ends_with_one_line_that_names_the_driver(
    verb: str, vendors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vendors / "crash.icd").write_text("libcrash.so")
    photo = picture(vendors.parent / "pictures" / "0" / "photo.png")
    files = {
        "PICTURE": photo,
        "PICTURES": photo.parent.parent,
        "MODEL": small_network(vendors.parent / "small.onnx"),
        "DIGITS": idx_folder(vendors.parent / "digits"),
        "OUTPUT": vendors.parent / "output",
    }

    code = run_command_line([verb, *(str(files.get(option, option)) for option in OPENS_A_DEVICE[verb])])

    found = capsys.readouterr()
    assert (code, found.out) == (3, "")
    assert found.err.splitlines()[-1] == (
        "edged: device auto: the OpenCL devices cannot be listed: "
        f"{CRASH.format(crashing=vendors / 'crash.icd')}; {drivers.REMEDY}"
    )


def test_predict_takes_numpy_where_no_device_was_asked_for(
    vendors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vendors / "crash.icd").write_text("libcrash.so")
    photo, model = picture(vendors.parent / "photo.png"), small_network(vendors.parent / "small.onnx")

    code = run_command_line(["predict", str(photo), "--model", str(model)])

    found = capsys.readouterr()
    assert code == 0
    assert str(photo) in found.out
    assert f"{vendors}/crash.icd); {drivers.REMEDY}; using NumPy instead" in found.err


def test_drivers_that_loaded_are_not_loaded_apart_again_until_one_changes(
    vendors: Path, ask: Callable[[], tuple[str, bool]]
) -> None:
    assert ask() == ("", True)
    assert ask() == ("", False)

    (vendors / "crash.icd").write_text("libcrash.so")
    problem, was_loaded = ask()
    assert (CRASH.format(crashing=vendors / "crash.icd") in problem, was_loaded) == (True, True)
    assert ask() == (problem, True)

    (vendors / "crash.icd").unlink()
    assert ask() == ("", False)


def test_a_child_of_a_hub_loads_them_itself(
    ask: Callable[[], tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGED_HUB_PID", "1")

    assert ask() == ("", False)


def test_where_no_other_process_can_be_started_this_one_loads_them(
    ask: Callable[[], tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "")

    assert ask() == ("", False)


@pytest.mark.skipif(not can_preload(), reason="no C compiler or no pyopencl: apt-get install gcc libc6-dev")
def test_a_real_driver_that_crashes(tmp_path: Path) -> None:
    library = tmp_path / "libcrash.so"
    source = b"#include <stdlib.h>\n__attribute__((constructor)) static void crash(void) { abort(); }"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)], input=source, check=True)
    crashing = tmp_path / "vendors" / "crash.icd"
    crashing.parent.mkdir()
    crashing.write_text(str(library))
    environment = {"OCL_ICD_VENDORS": str(crashing.parent), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    done = edged("predict", picture(tmp_path / "photo.png"), "--device", "auto", env=environment)

    assert (done.returncode, done.stdout) == (3, "")
    assert CRASH.format(crashing=crashing) in " ".join(done.stderr.split())
