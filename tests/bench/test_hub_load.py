"""The hub under cameras and workers of other hosts that never fall silent."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.hub_load import Listener, Load, Swarm, Window, as_rows, heard, hub, measure, swarm
from edged.system.machine_state import MachineState
from tests.e2e.daemon import Daemon, conserves
from tests.eventually import eventually


@pytest.mark.deep
def test_a_hub_to_which_other_hosts_go_on_sending_ends_at_a_signal(tmp_path: Path) -> None:
    load = Load(cameras=4, workers=2, fps=50)
    with hub(load, tmp_path) as daemon, swarm(load, daemon):
        ages = heard(daemon, 0.5)
        summary = daemon.stop()

    assert 0 < len(ages) <= summary["predictions"]
    assert conserves(summary)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Swarm]]:
    """One camera and one worker at a hub; tests only listen."""
    load = Load(cameras=1, workers=1, fps=50)
    with hub(load, tmp_path_factory.mktemp("hub")) as daemon, swarm(load, daemon) as offered:
        yield daemon, offered


def test_simulated_cameras_and_workers_report_no_time_that_they_do_not_spend(
    loaded: tuple[Daemon, Swarm],
) -> None:
    [prediction] = loaded[0].first(1)

    stages = prediction.seconds
    assert (stages.capture, stages.preprocess, stages.upload, stages.forward, stages.download) == (0, 0, 0, 0, 0)


def test_an_age_lasts_from_the_capture_until_the_subscriber_has_the_prediction(
    loaded: tuple[Daemon, Swarm],
) -> None:
    with Listener(loaded[0].address) as listener:
        listener.skip(0.1)
        before = time.time()
        [published] = loaded[0].first(1)
        eventually(lambda: time.time() > published.published_at + 0.3)  # it waits in the subscriber's queue
        ages = eventually(lambda: listener.ages(0.1))
        took_s = time.time() - before

    assert all(0 < age < took_s + 1 for age in ages)
    assert max(ages) > 0.2


def test_nothing_is_published_while_cameras_and_workers_stand_still(loaded: tuple[Daemon, Swarm]) -> None:
    daemon, offered = loaded
    with Listener(daemon.address) as listener:
        listener.skip(0.1)
        with offered.standing_still():
            eventually(lambda: not listener.ages(0.1))
        listener.skip(0.1)  # they go on


@pytest.mark.deep
@pytest.mark.parametrize("ended", ["cameras", "workers"])
def test_a_measurement_ends_with_one_line_if_its_cameras_or_workers_have_ended(tmp_path: Path, ended: str) -> None:
    load = Load(cameras=1, workers=1, fps=50)
    with hub(load, tmp_path) as daemon, swarm(load, daemon) as offered, Listener(daemon.address) as listener:
        listener.skip(0.1, offered.require_alive)
        [process] = [child for child in offered.children if child.name == ended]
        process.kill()
        process.join()
        eventually(lambda: not listener.messages(0.1))

        with pytest.raises(SystemExit, match=f"the process of all {ended} ended with exit code -9"):
            listener.skip(0.1, offered.require_alive)


@pytest.mark.deep
def test_a_load_is_measured_in_windows_with_the_state_of_each() -> None:
    load = Load(cameras=2, workers=1, fps=50)

    def measured(machine: MachineState) -> list[Window]:
        """Windows in which the hub had the processor at all."""
        return [window for window in measure(load, windows=2, seconds=0.3, machine=machine) if window.fps > 0]

    with MachineState(most_others=float("inf")) as machine:
        windows = eventually(lambda: measured(machine))

    assert all(window.cpu_us > 0 for window in windows)
    assert all(0 < window.p50_ms <= window.p99_ms <= window.most_ms for window in windows)


def test_a_row_has_the_medians_and_quartiles_of_one_state() -> None:
    windows = [Window("two-core", 0.0, 240.0, us, 0.15, 1.0, 2.0, 3.0, 53.0) for us in (500.0, 600.0, 700.0)]

    [row] = as_rows(Load(8, 4, 30.0), [*windows, Window("disturbed", 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)])

    assert row[:6] == ("ipc", "8", "4", "two-core, 3", "240", "240")
    assert row[6:] == ("1.0 (1.0 to 1.0) ms", "2.0 (2.0 to 2.0) ms", "600 (550 to 650) µs", "15%", "53 MB")
