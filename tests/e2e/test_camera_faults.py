"""Cameras that stop, hang, vanish and come back, in a running daemon beside one that must not notice."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.hub.children.child import STOPPED_S
from tests.e2e.camera_witness import FALL_S, RECONNECTS, Witness, watched
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, conserves, run_edged
from tests.eventually import eventually
from tests.given_time import GivenTime


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Witness]]:
    """One daemon for one fault of its camera `gate` after another."""
    with watched(tmp_path_factory.mktemp("faults"), gate=SYNTHETIC) as (daemon, witness):
        eventually(lambda: witness.of("gate"))
        yield daemon, witness


def test_a_camera_that_was_killed_starts_again_and_the_other_one_goes_on(running: tuple[Daemon, Witness]) -> None:
    daemon, witness = running
    before, killed_at = witness.metric(RECONNECTS, "gate"), time.time()
    daemon.child("gate").kill()
    lost = witness.hears("camera_lost", "gate", killed_at)
    eventually(lambda: witness.of("gate", since=lost.at))
    eventually(lambda: witness.of("calm", since=lost.at))
    assert witness.metric(RECONNECTS, "gate") == before + 1


@pytest.mark.promise("a camera that was killed is down and back within 3 s")
def test_a_camera_that_was_killed_is_down_and_back_within_3_s(running: tuple[Daemon, Witness]) -> None:
    daemon, witness = running
    killed_at, given = time.time(), GivenTime()
    daemon.child("gate").kill()
    eventually(lambda: witness.metric("edged_camera_up", "gate") == 0)
    down_at, down_s = time.time(), given.seconds()
    eventually(lambda: witness.of("gate", since=down_at))
    assert down_s < FALL_S
    assert given.seconds() < 2 * FALL_S
    assert witness.is_fresh("gate")
    assert witness.is_undisturbed(killed_at, given)


@pytest.mark.deep
def test_a_camera_process_that_is_stopped_is_killed_and_another_takes_its_place(
    running: tuple[Daemon, Witness],
) -> None:
    daemon, witness = running
    before, stopped_at = witness.metric(RECONNECTS, "gate"), time.time()
    daemon.child("gate").suspend()
    lost = witness.hears("camera_lost", "gate", stopped_at)
    assert lost.message.startswith("camera process gate was stopped by a signal and was killed; it starts again ")
    assert lost.at - stopped_at >= STOPPED_S
    eventually(lambda: witness.of("gate", since=lost.at))
    assert witness.metric(RECONNECTS, "gate") == before + 1


@pytest.mark.promise("a process that stands still for a second is not down")
def test_a_camera_process_that_is_stopped_for_a_moment_goes_on(running: tuple[Daemon, Witness]) -> None:
    daemon, witness = running
    stopped, stopped_at = daemon.child("gate"), time.time()
    stopped.suspend()
    resumed_at = time.time()
    stopped.resume()
    eventually(lambda: witness.of("gate", since=resumed_at))
    assert not witness.events_of("camera_lost", "gate", stopped_at)
    assert daemon.child("gate") == stopped


@pytest.mark.deep
def test_a_camera_that_is_not_there_is_down(tmp_path: Path) -> None:
    with run_edged(tmp_path, config=config_in(tmp_path, cameras={"gone": {"source": "/dev/video99"}})) as daemon:
        eventually(lambda: "camera gone is down" in daemon.log())
        assert 'edged_camera_up{camera="gone"} 0.0' in daemon.metrics()
        assert conserves(daemon.stop(signal.SIGINT))
