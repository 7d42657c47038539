"""What surrounds the figures of the demo; no test here judges a time."""

from dataclasses import astuple
from pathlib import Path

import pytest

from bench.demo import (
    CACHED,
    NOTHING_CACHED,
    Memory,
    Start,
    Window,
    demo_config,
    measure_windows,
    memory_of,
    raw,
    started,
    summary,
)  # fmt: skip
from edged.system.machine_state import MachineState
from tests.e2e.daemon import compiled


@pytest.mark.deep
def test_the_demo_starts_on_ports_of_its_own_and_is_measured_in_windows(tmp_path: Path) -> None:
    with (
        MachineState(most_others=float("inf")) as machine,
        started(tmp_path, compiled()) as (daemon, listener, took_s),
    ):
        windows = list(measure_windows(daemon, listener, 2, 3.0, machine))
        memory = memory_of(daemon)

    assert took_s > 0
    assert all(each.frames > 0 and 0 < each.rest_ms < each.total_ms < each.age_ms for each in windows)
    assert min(astuple(memory)) > 1


def test_two_demos_share_no_port() -> None:
    assert demo_config()["publish"] != demo_config()["publish"]
    assert demo_config()["cameras"]["demo"]["fps"] == 30


def test_the_summary_is_of_each_state_and_counts_what_was_left_out() -> None:
    windows = [Window("two-core", 0.0, 90, total, total - 1, total + 0.5) for total in (3.0, 4.0, 5.0)]
    windows += [Window("disturbed", 1.0, 90, 50.0, 49.0, 51.0)]
    starts = [Start("one-core", 0.0, CACHED, seconds) for seconds in (1.0, 2.0, 3.0)]
    starts += [Start("one-core", 0.0, NOTHING_CACHED, 9.0)]

    lines = list(summary(starts, windows))

    assert lines == [
        "two-core: total_ms 4.00 (3.50 to 4.50), 3 windows",
        "two-core: rest_ms 3.00 (2.50 to 3.50), 3 windows",
        "two-core: age_ms 4.50 (4.00 to 5.00), 3 windows",
        "one-core: start with all cached 2.00 (1.50 to 2.50) s, 3 starts",
        "1 of 8 starts and windows were left out",
    ]


def test_what_is_kept_has_its_columns() -> None:
    kept = raw([Start("two-core", 0.01234, CACHED, 1.23456)], [], [Memory(44.0, 80.0, 134.0)])

    assert kept["starts"]["rows"] == [["two-core", 0.0123, CACHED, 1.2346]]
    assert kept["memory"] == {"columns": ["hub", "camera", "worker"], "rows": [[44.0, 80.0, 134.0]]}
    assert kept["windows"]["rows"] == []
