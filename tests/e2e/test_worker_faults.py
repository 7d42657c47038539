"""Faults of a worker and its device: predictions go on within 3 s, and every frame is accounted for."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.e2e.daemon import Daemon, config_in, conserves, run_edged
from tests.eventually import eventually

WITHIN_S = 3.0
START_S = 30.0


def kill(worker: psutil.Process) -> None:
    worker.kill()


def segfault(worker: psutil.Process) -> None:
    while worker.is_running():  # a compiler's own handler may swallow the first
        worker.send_signal(signal.SIGSEGV)
        time.sleep(0.01)


def stop(worker: psutil.Process) -> None:
    worker.suspend()


@pytest.mark.parametrize(("fault", "reason"), [(kill, "signal"), (segfault, "signal"), (stop, "deadline")])
def test_predictions_go_on_after_the_worker_is(
    tmp_path: Path, fault: Callable[[psutil.Process], None], reason: str
) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        worker = daemon.child("worker")
        assert seconds_to_recover(daemon, worker, lambda: fault(worker)) < WITHIN_S
        assert restarts(daemon, reason) == 1
        assert conserves(daemon.stop())


@pytest.mark.parametrize(("fault", "reason"), [("endless", "deadline"), ("error", "device_error")])
def test_predictions_go_on_after_a_job_on_the_device_has_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    trigger = breakable(tmp_path, monkeypatch)
    with run_edged(tmp_path, config=config_in(tmp_path, workers=[{"device": "cpu"}])) as daemon:
        daemon.first(1)
        worker = daemon.child("worker")
        assert seconds_to_recover(daemon, worker, lambda: trigger(fault)) < WITHIN_S
        assert restarts(daemon, reason) == 1
        assert conserves(daemon.stop())


def breakable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the workers of daemons started from now on meet a fault when the returned function is called."""
    pytest.importorskip("pyopencl")
    trigger = folder / "fault"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "endless_kernel"), prepend=":")
    monkeypatch.setenv("EDGED_TEST_FAULT", str(trigger))

    def tell(fault: str) -> None:
        trigger.with_suffix(".new").write_text(fault)
        trigger.with_suffix(".new").rename(trigger)

    return tell


def seconds_to_recover(daemon: Daemon, worker: psutil.Process, fault: Callable[[], None]) -> float:
    """From the fault to the first prediction after the end of the worker that met it."""
    begin = time.monotonic()
    fault()
    eventually(lambda: not worker.is_running(), START_S)
    assert daemon.first(1)
    took_s = time.monotonic() - begin
    print(f"{took_s:.2f} s from the fault to the next prediction")
    return took_s


def restarts(daemon: Daemon, reason: str) -> float:
    """How often local-0 was lost for this reason, as the metrics say."""
    name = f'edged_worker_restarts_total{{reason="{reason}",worker="local-0"}} '
    return next((float(line.removeprefix(name)) for line in daemon.metrics().splitlines() if name in line), 0.0)
