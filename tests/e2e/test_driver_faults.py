"""Errors of a real OpenCL driver while jobs run: predictions go on within 3 s, the reason is counted."""

from functools import partial
from pathlib import Path

import pytest

from tests.e2e.daemon import config_in, conserves, run_edged
from tests.e2e.daemon_use import WITHIN_S, restarts, seconds_to_recover
from tests.e2e.injected_faults import LATER, NO_MEMORY, OUT_OF_RESOURCES, Driver, can_preload

pytestmark = pytest.mark.deep


FAULTS = [  # with the hub's pause before it starts a worker that is lost again and again
    ("clEnqueueNDRangeKernel", OUT_OF_RESOURCES, "device_error", 0.0),
    ("clEnqueueNDRangeKernel", NO_MEMORY, "out_of_memory", 0.5),
    ("clWaitForEvents", LATER, "device_error", 1.0),
]


@pytest.mark.promise("predictions go on within 3 s")
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
