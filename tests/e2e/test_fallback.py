"""A device that is given up: the next of the list serves, and the first again once it works."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.disks import a_small_disk, an_ext4, fill, frozen
from tests.e2e.daemon import PATIENT, Daemon, config_in, conserves, run_edged
from tests.e2e.daemon_use import WITHIN_S
from tests.e2e.injected_faults import breakable
from tests.eventually import eventually
from tests.given_time import GivenTime

pytestmark = pytest.mark.deep

STUCK_S = WITHIN_S + 1  # SIGKILL gets its time first


@pytest.mark.promise("another device serves within 3 s")
def test_a_device_that_hangs_too_often_gives_way_to_numpy_and_serves_again_once_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = breakable(tmp_path, monkeypatch)
    workers = [{"device": "cpu"}, {"device": "numpy"}]
    recovery = {"losses": 1, "retry_device_s": 2}
    with run_edged(tmp_path, config=config_in(tmp_path, workers=workers, recovery=recovery)) as daemon:
        first = first_device(daemon)
        assert seconds_until(lambda: device(daemon) == "NumPy", lambda: trigger("endless")) < WITHIN_S
        eventually(lambda: device(daemon) == first)
        eventually(lambda: "local-1 has ended, since another one serves" in daemon.log())
        numbers = [each.seq for each in daemon.first(20)]
        assert numbers == list(range(numbers[0], numbers[0] + 20))
        assert conserves(daemon.stop())


@pytest.mark.promise("another device serves within 4 s")
def test_a_worker_that_not_even_sigkill_ends_is_left_behind_and_the_next_device_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = breakable(tmp_path, monkeypatch)
    workers = [{"device": "cpu"}, {"device": "numpy"}]
    with (
        an_ext4(tmp_path) as disk,
        run_edged(tmp_path, config=config_in(tmp_path, workers=workers, recovery={"retry_device_s": 2})) as daemon,
    ):
        first, stuck = first_device(daemon), daemon.child("worker", "0")
        with frozen(disk):
            fault = str(disk / "file")
            assert seconds_until(lambda: device(daemon) == "NumPy", lambda: trigger(fault)) < STUCK_S
            assert stuck.status() == psutil.STATUS_DISK_SLEEP
            eventually(lambda: f"is in use by process {stuck.pid}" in daemon.log())
        eventually(lambda: device(daemon) == first)
        assert not stuck.is_running()
        assert conserves(daemon.stop())


def test_beside_a_worker_that_is_stuck_in_the_kernel_no_second_daemon_uses_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = breakable(tmp_path, monkeypatch)
    config = config_in(tmp_path, workers=[{"device": "cpu"}, {"device": "numpy"}], recovery={"retry_device_s": 1})
    with an_ext4(tmp_path) as disk:
        with frozen(disk):
            with run_edged(tmp_path, config=config) as first:
                device_name, stuck = first_device(first), first.child("worker", "0")
                trigger(str(disk / "file"))
                eventually(lambda: stuck.status() == psutil.STATUS_DISK_SLEEP)
                first.process.kill()
                first.process.wait()
            with run_edged(tmp_path, config=config) as second:
                assert device(second) == "NumPy"
                in_use = f"is in use by process {stuck.pid} (edged worker 0), which is stuck"
                eventually(lambda: in_use in second.log())
        with run_edged(tmp_path, config=config) as third:
            assert first_device(third) == device_name


def test_numpy_answers_while_kernels_are_compiled_and_no_frame_is_lost(tmp_path: Path) -> None:
    workers = [{"device": "cpu"}, {"device": "numpy"}]
    config = config_in(tmp_path, workers=workers, freshness=PATIENT)
    with run_edged(tmp_path, config=config, programs=tmp_path / "cache") as daemon:
        assert device(daemon) == "NumPy"
        assert first_device(daemon) != "NumPy"
        assert "local-1 (device numpy) answers until it is ready" in daemon.log()
        eventually(lambda: "local-1 has ended, since another one serves" in daemon.log())
        summary = daemon.stop()
    assert conserves(summary)
    assert {*summary["dropped"]} <= {"superseded", "shutdown"}


def test_a_full_disk_under_the_caches_costs_no_more_than_a_slow_start(tmp_path: Path) -> None:
    with a_small_disk(tmp_path / "cache") as disk:
        fill(disk)
        config = config_in(tmp_path, workers=[{"device": "cpu"}])
        with run_edged(tmp_path, config=config, programs=disk) as daemon:
            assert device(daemon) != "NumPy"
            assert "No space left on device" in daemon.log()
            assert conserves(daemon.stop())


def first_device(daemon: Daemon) -> str:
    """The device of the first worker, once it has started: NumPy may answer until then."""
    return eventually(lambda: "" if (found := device(daemon)) == "NumPy" else found)


def device(daemon: Daemon) -> str:
    """What the next prediction was made on."""
    return daemon.first(1)[0].model.device


def seconds_until(condition: Callable[[], bool], fault: Callable[[], None]) -> float:
    """Return given seconds from the fault until the condition holds."""
    given = GivenTime()
    fault()
    eventually(condition)
    took_s = given.seconds()
    print(f"{took_s:.2f} s until another device serves")
    return took_s
