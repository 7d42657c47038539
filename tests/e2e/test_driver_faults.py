"""Errors of a real OpenCL driver while jobs run: predictions go on within 3 s, the reason is counted."""

import importlib.util
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.daemon import config_in, conserves, run_edged
from tests.e2e.recovery import WITHIN_S, restarts, seconds_to_recover

pytestmark = pytest.mark.deep

SHIM = Path(__file__).with_name("opencl_faults.c")
OUT_OF_RESOURCES, NO_DEVICE, LATER, NO_MEMORY = -5, -2, -14, -4


def can_preload() -> bool:
    """Whether a shim can be built for a driver that there is."""
    return bool(shutil.which("gcc") and importlib.util.find_spec("pyopencl"))


class Driver:
    """The OpenCL driver of every process that is started with this `environment`."""

    def __init__(self, folder: Path) -> None:
        self.fault = folder / "opencl_fault"
        library = folder / "opencl_faults.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(SHIM)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "OPENCL_FAULT": str(self.fault)}

    def loses_its_device(self, function: str, code: int) -> None:
        """In the process that calls OpenCL next, `function` gives `code` from then on."""
        new = self.fault.with_suffix(".new")
        new.write_text(f"{function} {code}")
        new.rename(self.fault)


FAULTS = [  # with the hub's pause before it starts a worker that is lost again and again
    ("clEnqueueNDRangeKernel", OUT_OF_RESOURCES, "device_error", 0.0),
    ("clEnqueueMapBuffer", NO_MEMORY, "out_of_memory", 0.5),
    ("clWaitForEvents", LATER, "device_error", 1.0),
]


def test_predictions_go_on_after_each_error_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not can_preload():
        pytest.skip("no C compiler or no pyopencl: apt-get install gcc libc6-dev")
    driver = Driver(tmp_path)
    for name, value in driver.environment.items():
        monkeypatch.setenv(name, value)
    config = config_in(tmp_path, workers=[{"device": "cpu"}], recovery={"losses": len(FAULTS) + 1})
    with run_edged(tmp_path, config=config) as daemon:
        for function, code, reason, pause_s in FAULTS:
            daemon.first(1)
            worker, before = daemon.child("worker"), restarts(daemon, reason)
            took_s = seconds_to_recover(daemon, worker, partial(driver.loses_its_device, function, code))
            assert took_s - pause_s < WITHIN_S, function
            assert restarts(daemon, reason) == before + 1
        assert conserves(daemon.stop())
