"""The wall clock jumps by an hour, as on a board without a battery that finds the network."""

import os
import shutil
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from edged.client import Prediction, subscribe
from tests.e2e.daemon import START_S, config_in, conserves, run_edged

pytestmark = pytest.mark.deep

SHIM = Path(__file__).with_name("wallclock.c")
HOUR_S = 3600
JUMPS_S = (0, HOUR_S, -HOUR_S, 0)
WATCHED = 30
FPS = 30  # of the synthetic camera
FRAME_S = 1 / FPS
SANE_S = 3.0


class WallClock:
    """The wall clock of every process that is started with this `environment`; all other clocks stay true."""

    def __init__(self, folder: Path) -> None:
        self._offset = folder / "offset"
        self.jump(0)
        library = folder / "wallclock.so"
        compiler = shutil.which("gcc") or pytest.skip("no C compiler: apt-get install gcc libc6-dev")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(SHIM)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "WALL_CLOCK_OFFSET": str(self._offset)}

    def jump(self, to_s: int) -> None:
        """From now on it is off by so many seconds."""
        new = self._offset.with_suffix(".new")
        new.write_text(str(to_s))
        os.replace(new, self._offset)


def test_a_wall_clock_that_jumps_kills_no_child_drops_no_frame_and_changes_no_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = WallClock(tmp_path)
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)  # for the daemon: this process runs already, with the true time
    with run_edged(tmp_path, config=config_in(tmp_path)) as daemon:
        stream = subscribe(daemon.address, timeout_s=START_S)
        next(stream)
        children = {child.pid for child in daemon.children()}
        for offset_s in JUMPS_S:
            clock.jump(offset_s)
            seen = [(next(stream), time.monotonic()) for _ in range(WATCHED)]
            assert seen[-1][0].captured_at - time.time() == pytest.approx(offset_s, abs=5)
            gaps = [after - before for (_, before), (_, after) in pairwise(seen)]
            assert 0.5 * FRAME_S < median(gaps) < 2 * FRAME_S
            assert [each for each, _ in seen if not is_sane(each)] == []
        assert {child.pid for child in daemon.children()} == children
        summary = daemon.stop()
    assert conserves(summary)
    assert summary["dropped"].get("stale", 0) == 0


def is_sane(prediction: Prediction) -> bool:
    """Whether each of its durations is one, and not the hour by which the clock jumped."""
    return all(0 <= seconds < SANE_S for seconds in prediction.seconds.model_dump().values())
