"""Faults that are injected into a running daemon."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.e2e.daemon import PATIENT, config_in, conserves, run_edged
from tests.eventually import eventually


@pytest.mark.deep
def test_a_worker_that_is_lost_again_and_again_is_given_up_for_the_next(tmp_path: Path) -> None:
    config = config_in(tmp_path, workers=[{"device": "numpy"}, {"device": "numpy"}])
    with run_edged(tmp_path, config=config) as daemon:
        for _ in range(3):
            lost = daemon.child("worker")
            lost.kill()
            eventually(lost_for_good(lost))
        eventually(lambda: "local-1 (device numpy) takes over" in daemon.log())
        assert daemon.first(1)[0].model.worker == "local-1"
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_numbers_go_on_after_the_hub_was_killed(tmp_path: Path) -> None:
    config = config_in(tmp_path, freshness=PATIENT)
    with run_edged(tmp_path, config=config) as daemon:
        before = daemon.first(3)[-1]
        daemon.process.kill()
        daemon.process.wait()
    with run_edged(tmp_path, config=config) as daemon:
        after = daemon.first(1)[0]
        assert after.seq > before.seq
        assert after.boot != before.boot
        numbers = [each.seq for each in daemon.first(after.seq + 1, since_s=600)]
        assert numbers == list(range(after.seq + 1))


def lost_for_good(process: psutil.Process) -> Callable[[], bool]:
    """Whether the process has ended and was reaped."""
    return lambda: not process.is_running()
