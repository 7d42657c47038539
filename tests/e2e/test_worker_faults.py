"""Faults of a worker and its device: predictions go on within 3 s, and every frame is accounted for."""

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import psutil
import pytest

from tests.cli.models import CLASSES, small_network
from tests.e2e.daemon import config_in, conserves, run_edged
from tests.e2e.daemon_use import WITHIN_S, restarts, seconds_to_recover
from tests.e2e.injected_faults import breakable


def kill(worker: psutil.Process) -> None:
    worker.kill()


def segfault(worker: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        while worker.is_running():  # a compiler's own handler may swallow the first
            worker.send_signal(signal.SIGSEGV)
            time.sleep(0.01)


def stop(worker: psutil.Process) -> None:
    worker.suspend()


@pytest.mark.promise("predictions go on within 3 s")
@pytest.mark.parametrize(("fault", "reason"), [(kill, "signal"), (segfault, "signal"), (stop, "stopped")])
def test_predictions_go_on_after_the_worker_is(
    tmp_path: Path, fault: Callable[[psutil.Process], None], reason: str
) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        worker = daemon.child("worker")
        assert seconds_to_recover(daemon, worker, lambda: fault(worker)) < WITHIN_S
        assert restarts(daemon, reason) == 1
        assert "it starts again at once" in daemon.log()
        summary = daemon.stop()
    assert conserves(summary)


@pytest.mark.promise("predictions go on within 3 s")
@pytest.mark.parametrize(("fault", "reason"), [("endless", "deadline"), ("not a number", "device_error")])
def test_predictions_go_on_after_a_kernel_that_hangs_or_computes_nan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    trigger = breakable(tmp_path, monkeypatch)
    with run_edged(tmp_path, config=config_in(tmp_path, workers=[{"device": "cpu"}])) as daemon:
        daemon.first(1)
        worker = daemon.child("worker")
        assert seconds_to_recover(daemon, worker, lambda: trigger(fault)) < WITHIN_S
        assert restarts(daemon, reason) == 1
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_a_picture_that_the_network_itself_answers_with_nan_is_dropped_alone(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    for name, value in {"black": 0, "white": 255}.items():
        cv2.imwrite(str(tmp_path / "pictures" / f"{name}.png"), np.full((16, 16, 3), value, np.uint8))
    model = small_network(tmp_path / "overflows.onnx", largest=3e37)
    camera = {"source": str(tmp_path / "pictures"), "at_end": "loop"}
    config = config_in(tmp_path, cameras={"demo": camera}, model={"path": str(model)})
    with run_edged(tmp_path, config=config) as daemon:
        daemon.first(1)
        worker = daemon.child("worker")
        predictions = daemon.first(20)
        assert worker.is_running()
        summary = daemon.stop()
    assert all(each.top[0].score == pytest.approx(1 / CLASSES) for each in predictions)  # all of them black
    assert summary["dropped"]["not_finite"] >= 20
    assert conserves(summary)
