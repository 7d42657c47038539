"""When the pipeline lives, and when it only seems to."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.clock import NANOSECONDS
from edged.hub.systemd_service import DOWN_NS, STARTING_NS, CameraSign, Heartbeat, WorkerSign

NOW = 1_000 * NANOSECONDS
UP = CameraSign(captured=10, up=True, heard_ns=NOW)
DOWN = CameraSign(captured=10, up=False, heard_ns=NOW)
UNHEARD = replace(DOWN, heard_ns=NOW - DOWN_NS - 1)
ENDED = replace(UNHEARD, ended=True)
FULL = replace(UP, waits_for_room=True)
IDLE = WorkerSign(answered=5, ready=True, frames_wait=False, heard_ns=NOW)
BUSY = replace(IDLE, frames_wait=True)
STARTING = replace(BUSY, ready=False)
GONE = replace(STARTING, heard_ns=NOW - STARTING_NS - 1)


def moved(*cameras: CameraSign) -> list[CameraSign]:
    """The first has captured one more frame."""
    return [replace(cameras[0], captured=11), *cameras[1:]]


def answered(worker: WorkerSign) -> WorkerSign:
    return replace(worker, answered=6)


@pytest.mark.parametrize(
    ("why", "cameras", "worker", "lives"),
    [
        ("frames come and are answered", moved(UP), answered(BUSY), True),
        ("a still scene: captured, let go by the camera itself", moved(UP), IDLE, True),
        ("a camera that is up gives nothing", [UP], IDLE, False),
        ("old frames are answered, but none comes", [UP], answered(BUSY), False),
        ("frames come, wait, and nobody answers", moved(UP), BUSY, False),
        ("one camera is stuck, the other one moves", moved(UP, UP), answered(BUSY), True),
        ("every camera says that it is down", [DOWN, DOWN], IDLE, True),
        ("one is down, one is stuck", [DOWN, UP], IDLE, False),
        ("one is down, one is not heard of any more", [DOWN, UNHEARD], IDLE, False),
        ("nothing is heard of any camera", [UNHEARD], IDLE, False),
        ("all have ended, but what they left is not answered", [ENDED], BUSY, False),
        ("one has ended, the other one is down", [ENDED, DOWN], IDLE, True),
        ("nobody asks the only camera, which serves requests", [replace(UP, serves=True)], IDLE, True),
        ("it is asked, and nobody answers", moved(replace(UP, serves=True)), BUSY, False),
        ("nothing is heard of it any more", [replace(UNHEARD, serves=True)], IDLE, False),
        ("a fast folder waits for room, and its frames are answered", [FULL], answered(BUSY), True),
        ("a fast folder waits for room, and nobody answers", [FULL], BUSY, False),
        ("the worker is compiling", moved(UP), STARTING, True),
        ("the worker is compiling, and a folder waits for it", [FULL], STARTING, True),
        ("no worker has been heard of for longer than any compiler takes", moved(UP), GONE, False),
        ("a camera of another host is away", [replace(UNHEARD, away=True)], IDLE, True),
        ("and one of this host is stuck", [replace(UNHEARD, away=True), UP], IDLE, False),
        ("the worker of another host is away", moved(UP), replace(GONE, away=True), True),
        ("it is there, and nobody answers", moved(UP), replace(BUSY, away=True), False),
        ("no worker, but nothing for it to do either", [DOWN], replace(GONE, frames_wait=False), True),
    ],
)
def test_it_beats_while(why: str, cameras: list[CameraSign], worker: WorkerSign, lives: bool) -> None:
    heartbeat = Heartbeat()
    assert heartbeat.beats([UP] * len(cameras), IDLE, NOW)
    assert heartbeat.beats(cameras, worker, NOW) is lives, why


def test_what_has_moved_between_two_beats_counts_though_nothing_moved_last() -> None:
    heartbeat = Heartbeat()
    assert heartbeat.beats([UP], IDLE, NOW)
    assert not heartbeat.beats(moved(UP), BUSY, NOW)  # a frame has just come
    assert heartbeat.beats(moved(UP), answered(IDLE), NOW)
    assert not heartbeat.beats(moved(UP), answered(IDLE), NOW)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=50))
def test_no_time_alone_feeds_it(steps: list[tuple[int, int]]) -> None:
    """While frames and answers are due, each beat has its own frame and its own answer."""
    heartbeat, captured, jobs, beats = Heartbeat(), 0, 0, 0
    for second, (frames, answers) in enumerate(steps):
        captured, jobs = captured + frames, jobs + answers
        now = NOW + 3600 * NANOSECONDS * second
        camera, worker = replace(UP, captured=captured), replace(BUSY, answered=jobs)
        beats += heartbeat.beats([camera], worker, now)
        assert beats <= min(captured, jobs)
    assert beats >= min(1, captured, jobs)


@given(st.lists(st.integers(1, 30), min_size=1), st.lists(st.integers(0, 3), min_size=1))
def test_a_pipeline_that_moves_beats_each_second(frames: list[int], waiting: list[int]) -> None:
    heartbeat, captured = Heartbeat(), 0
    for number, more in enumerate(frames):
        captured += more
        worker = WorkerSign(
            answered=captured, ready=True, frames_wait=bool(waiting[number % len(waiting)]), heard_ns=NOW
        )
        assert heartbeat.beats([replace(UP, captured=captured)], worker, NOW + number * NANOSECONDS)
