"""Hosts whose clocks say something else: stages end up on one time line, with what that is uncertain by."""

import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.injected_faults import HOUR_S, WallClock
from tests.e2e.pipeline import EDGED, THREE, config_in, pipeline
from tests.eventually import eventually

pytestmark = pytest.mark.deep

FPS = 30  # of the synthetic camera
SEEN = 60
KNOWN_S = 0.05
UP_LONGER_S = 1000  # CLOCK_MONOTONIC begins with the start of a machine
OTHER_CLOCK = ("unshare", "--time", "--monotonic", str(UP_LONGER_S), "--boottime", str(UP_LONGER_S))


def needs_time_namespaces() -> None:
    if subprocess.run([*OTHER_CLOCK, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no network namespaces here: nor those of time")


def test_clocks_of_other_hosts_are_off_and_no_stage_is(tmp_path: Path) -> None:
    needs_time_namespaces()
    wall = WallClock(tmp_path)
    wall.jump(-HOUR_S)
    with pipeline(tmp_path, *THREE, config=config_in(tmp_path)) as running:
        running.start("hub", *THREE["hub"])
        running.start("gate", *THREE["gate"], by=(*OTHER_CLOCK, *EDGED), **wall.environment)
        running.start("big", *THREE["big"], by=(*OTHER_CLOCK, *EDGED))
        eventually(lambda: len(running.seen.seen) > SEEN)
        eventually(lambda: running.predictions(-1)[0]["clock_error"] < KNOWN_S)
        seen, now = running.predictions(), time.time()
        for each in seen:
            stages = {name: value for name, value in each["seconds"].items() if name not in {"capture", "total"}}
            assert all(value >= 0 for value in each["seconds"].values())
            assert abs(sum(stages.values()) - each["seconds"]["total"]) < 1e-6
            assert each["clock_error"] > 0
        assert (
            sum(map(is_apart, seen)) <= len(seen) // 20
        )  # the hub may have to wait between a look at either clock
        assert abs(seen[-1]["captured_at"] - now) < HOUR_S / 2
        steps = [after["captured_at"] - before["captured_at"] for before, after in pairwise(seen)]
        assert min(steps) > 0
        assert running.is_whole()


def is_apart(prediction: dict[str, Any]) -> bool:
    """Whether the wall clock and the total, by two clocks of the hub, differ by more than they may."""
    apart = prediction["published_at"] - prediction["captured_at"] - prediction["seconds"]["total"]
    return bool(abs(apart) > 2 * prediction["clock_error"])
