"""The state of a machine, read in a thread of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edged.messages import HostState
from edged.messages.host import MOST
from edged.system.host_watch import HostWatch, read
from tests.eventually import eventually
from tests.system.sysfs import juno, policy, zone


@contextmanager
def watch(root: Path) -> Iterator[HostWatch]:
    watch = HostWatch(root, every_s=0.01)
    try:
        yield watch
    finally:
        watch.stop()


def celsius(watch: HostWatch) -> dict[str, float]:
    """By sensor, as soon as there is news."""

    def popped() -> list[HostState]:
        news = watch.pop_state()
        return [news] if news else []

    return eventually(popped)[0].celsius


def test_it_tells_what_is_there_now(tmp_path: Path) -> None:
    zone(tmp_path, 0, "cpu-thermal", 41_000)
    with watch(tmp_path) as state:
        assert celsius(state) == {"cpu-thermal": 41}
        zone(tmp_path, 0, "cpu-thermal", 52_000)
        eventually(lambda: celsius(state) == {"cpu-thermal": 52})


def test_a_machine_that_shows_nothing_has_no_news(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    with watch(tmp_path) as state:
        zone(tmp_path, 0, "cpu-thermal", 41_000)
        eventually(state.pop_state)  # it has gone on looking


def test_a_sensor_that_blocks_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = zone(tmp_path, 0, "stuck", 0) / "temp"
    path.unlink()
    os.mkfifo(path)  # a reader waits until somebody writes
    with watch(tmp_path) as state:
        assert state.pop_state() is None
        with path.open("w") as writer:
            writer.write("41000\n")
        assert celsius(state) == {"stuck": 41}
        path.unlink()


def test_of_a_large_machine_the_first_of_each_are_reported(tmp_path: Path) -> None:
    for number in range(200):
        zone(tmp_path, number, f"zone-{number}", 40_000)
        policy(tmp_path, number, 400, 800, 800)
    juno(tmp_path)
    state = read(tmp_path)
    assert list(state.celsius) == [f"zone-{number}" for number in range(MOST)]
    assert list(state.frequencies) == [f"policy{number}" for number in range(MOST)]
