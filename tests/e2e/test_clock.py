"""The wall clock jumps by an hour, as on a board without a battery that finds the network."""

import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from edged.client import Prediction, subscribe
from edged.messages.message import as_dict
from tests.e2e.daemon import PATIENT, START_S, config_in, conserves, run_edged
from tests.e2e.injected_faults import HOUR_S, WallClock
from tests.eventually import LIMIT_S

pytestmark = pytest.mark.deep

JUMPS_S = (0, HOUR_S, -HOUR_S, 0)
WATCHED = 30
FPS = 30  # of the synthetic camera
FRAME_S = 1 / FPS
SANE_S = HOUR_S / 2


def test_a_wall_clock_that_jumps_kills_no_child_drops_no_frame_and_changes_no_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = WallClock(tmp_path)
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)  # for the daemon: this process runs already, with the true time
    with run_edged(tmp_path, config=config_in(tmp_path, freshness=PATIENT)) as daemon:
        stream = subscribe(daemon.address, timeout_s=START_S)
        next(stream)
        children = {child.pid for child in daemon.children()}
        for offset_s in JUMPS_S:
            clock.jump(offset_s)
            seen = [next(stream) for _ in range(WATCHED)]
            assert seen[-1].captured_at - time.time() == pytest.approx(offset_s, abs=LIMIT_S)
            gaps = [after.captured_at - before.captured_at for before, after in pairwise(seen)]
            assert median(gaps) > 0.5 * FRAME_S  # no frames in a rush to catch up
            assert [each for each in seen if not is_sane(each)] == []
        assert {child.pid for child in daemon.children()} == children
        summary = daemon.stop()
    assert conserves(summary)
    assert summary["dropped"].get("stale", 0) == 0


def is_sane(prediction: Prediction) -> bool:
    """Whether each of its durations is one, and not the hour by which the clock jumped."""
    return all(0 <= seconds < SANE_S for seconds in as_dict(prediction.seconds).values())
