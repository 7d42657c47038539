"""Faults of processes that are started for that: in an OpenCL driver, in kernels, or in the wall clock."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

DRIVER_SHIM = Path(__file__).with_name("opencl_faults.c")
OUT_OF_RESOURCES, NO_DEVICE, LATER, NO_MEMORY = -5, -2, -14, -4
CLOCK_SHIM = Path(__file__).with_name("wallclock.c")
HOUR_S = 3600


def can_preload() -> bool:
    """Return whether there is a compiler for the shim and an OpenCL to put it before."""
    return bool(shutil.which("gcc") and importlib.util.find_spec("pyopencl"))


class Driver:
    """The OpenCL driver of every process that is started with this `environment`."""

    def __init__(self, folder: Path) -> None:
        self.fault = folder / "opencl_fault"
        library = folder / "opencl_faults.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(DRIVER_SHIM)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "OPENCL_FAULT": str(self.fault)}

    def loses_its_device(self, function: str, code: int) -> None:
        """In the process that calls OpenCL next, `function` gives `code` from then on."""
        new = self.fault.with_suffix(".new")
        new.write_text(f"{function} {code}")
        new.rename(self.fault)


def breakable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the workers of daemons started from now on meet a fault when the returned function is called."""
    pytest.importorskip("pyopencl")
    trigger = folder / "fault"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "endless_kernel"), prepend=":")
    monkeypatch.setenv("EDGED_TEST_FAULT", str(trigger))

    def inject(fault: str) -> None:
        trigger.with_suffix(".new").write_text(fault)
        trigger.with_suffix(".new").rename(trigger)

    return inject


class WallClock:
    """The wall clock of every process that is started with this `environment`; all other clocks stay true."""

    def __init__(self, folder: Path) -> None:
        self._offset = folder / "offset"
        self.jump(0)
        library = folder / "wallclock.so"
        compiler = shutil.which("gcc") or pytest.skip("no C compiler: apt-get install gcc libc6-dev")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(CLOCK_SHIM)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "WALL_CLOCK_OFFSET": str(self._offset)}

    def jump(self, to_s: int) -> None:
        """Set it wrong by so many seconds from now on."""
        new = self._offset.with_suffix(".new")
        new.write_text(str(to_s))
        os.replace(new, self._offset)
