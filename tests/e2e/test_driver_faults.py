"""Errors of a real OpenCL driver while jobs run: predictions go on within 3 s, the reason is counted."""

import importlib.util
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.daemon import config_in, conserves, run_edged
from tests.e2e.recovery import WITHIN_S, restarts, seconds_to_recover

SHIM = Path(__file__).with_name("opencl_faults.c")
OUT_OF_RESOURCES, NO_DEVICE, LATER, NO_MEMORY, NO_HOST_MEMORY = -5, -2, -14, -4, -6


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


PAUSES_S = (0.0, 0.5, 1.0)  # the hub's own, before it starts a worker that is lost again and again
FAILS = [
    ("clEnqueueNDRangeKernel", OUT_OF_RESOURCES),
    ("clEnqueueMapBuffer", NO_DEVICE),
    ("clWaitForEvents", LATER),
]
HAS_NO_MEMORY = [("clEnqueueNDRangeKernel", NO_MEMORY), ("clEnqueueMapBuffer", NO_HOST_MEMORY)]


@pytest.mark.parametrize(("faults", "reason"), [(FAILS, "device_error"), (HAS_NO_MEMORY, "out_of_memory")])
def test_predictions_go_on_when_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: list[tuple[str, int]], reason: str
) -> None:
    if not can_preload():
        pytest.skip("no C compiler or no pyopencl: apt-get install gcc libc6-dev")
    driver = Driver(tmp_path)
    for name, value in driver.environment.items():
        monkeypatch.setenv(name, value)
    config = config_in(tmp_path, workers=[{"device": "cpu"}], recovery={"losses": len(faults) + 1})
    with run_edged(tmp_path, config=config) as daemon:
        for count, (fault, pause_s) in enumerate(zip(faults, PAUSES_S, strict=False), start=1):
            daemon.first(1)
            worker = daemon.child("worker")
            took_s = seconds_to_recover(daemon, worker, partial(driver.loses_its_device, *fault))
            assert took_s - pause_s < WITHIN_S, fault
            assert restarts(daemon, reason) == count
        assert conserves(daemon.stop())
