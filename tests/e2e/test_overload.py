"""Three cameras at 60 frames a second on a worker that manages 20 to 50, by the machine."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from edged.client import Prediction
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, conserves, run_edged
from tests.e2e.lateness import Lateness

pytestmark = pytest.mark.deep

FPS = 60
NAMES = ("door", "gate", "hall")
CAMERAS = {name: {**SYNTHETIC, "size": [64, 64], "fps": FPS, "seed": seed} for seed, name in enumerate(NAMES)}
SLOW = {"name": "resnet18", "size": 176}  # 20 to 50 ms on one core in NumPy
WATCHED = 120
PATIENT = {"max_age_s": 10, "deadline_s": 10}  # nothing is dropped but for newer frames, and no worker killed
HELD_UP_S = 0.008  # a machine with other work keeps a process waiting now and then …
HANDS = 3  # … the camera's, the hub's and the worker's, as it does the test's own thread
MOST = 0.95
OVERLOAD = 2  # a fast machine answers a frame of 3.6, a slow one of 9
TRIES = 5  # other programs that take the cores spoil one look, and hardly all


@pytest.mark.promise("frames wait for a frame time and a forward pass at most")
def test_newest_frames_win_and_none_is_older_than_a_frame_and_two_forward_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # the other cores are the cameras' and the hub's
    config = config_in(tmp_path, cameras=CAMERAS, model=SLOW, freshness=PATIENT)
    with run_edged(tmp_path, config=config) as daemon:
        daemon.first(1)
        assert any(not broken_promises(daemon) for _ in range(TRIES))
        summary = daemon.stop()
    assert conserves(summary)
    assert summary["captured"] > OVERLOAD * summary["predictions"]
    assert summary["dropped"]["superseded"] > 0.9 * sum(summary["dropped"].values())


def broken_promises(daemon: Daemon) -> list[str]:
    """Which do not hold of the next predictions."""
    before, lateness = frames_by_age(daemon), Lateness()
    lateness.start()
    predictions = daemon.first(WATCHED)
    late_s = HELD_UP_S + HANDS * lateness.stop(MOST)
    taken = frames_by_age(daemon)
    taken.subtract(before)

    beyond = sorted(beyond_the_promise_s(*pair) for pair in pairwise(predictions))
    served = Counter(prediction.camera for prediction in predictions)
    promises = {
        "half wait for a frame and a forward pass at most": median(beyond) <= 0,
        "and hardly any for longer": beyond[int(MOST * len(beyond))] <= late_s,
        "frames are young when a worker takes them": taken["0.02"] >= MOST * taken["+Inf"],
        "all cameras are served": served.keys() == CAMERAS.keys(),
        "and equally": max(served.values()) - min(served.values()) <= WATCHED // 15,
    }
    broken = [promise for promise, kept in promises.items() if not kept]
    print(f"not kept: {broken}; {late_s:.4f} s late, {beyond[-10:]}, {served}, {taken}")
    return broken


def beyond_the_promise_s(before: Prediction, it: Prediction) -> float:
    """How much longer a frame has waited than for the next one to come (one frame time) and for the job before it,
    which the worker had in hand (credit 2): its own forward pass is the second one."""
    return it.seconds.wait - 1 / FPS - before.seconds.forward


def frames_by_age(daemon: Daemon) -> Counter[str]:
    """How many a worker has taken that were younger than each bound; 0.02 s is the one next to 1/60 s."""
    buckets = re.findall(r'edged_frame_age_seconds_bucket\{camera="\w+",le="(.*)"\} (.*)', daemon.metrics())
    frames: Counter[str] = Counter()
    for bound, count in buckets:
        frames[bound] += int(float(count))
    return frames
