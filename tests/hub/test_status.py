"""What each status tells of cameras, workers and joules."""

from collections.abc import Callable
from pathlib import Path

import pytest

from edged.messages import Status
from tests.hub.running import Run

Until = Callable[[Run, Callable[[Status], bool]], Status]


@pytest.fixture
def status_of(monkeypatch: pytest.MonkeyPatch) -> Until:
    """Let a hub run until a status is as it should be."""

    def first(run: Run, awaited: Callable[[Status], bool]) -> Status:
        with run.statuses() as heard:
            monkeypatch.setattr(
                "edged.hub.pipeline.Limits.count_reached", lambda *_: any(map(awaited, heard[-1:]))
            )
            run.until()
        return heard[-1]

    return first


def short_is_answered(status: Status) -> bool:
    """The camera `short` has ended, and none of its frames is in flight."""
    short = status.camera_states["short"]
    return short.ended and short.captured == short.predicted + sum(short.dropped.values())


def test_cameras_that_give_frames_have_ended_or_are_not_there(tmp_path: Path, status_of: Until) -> None:
    run = Run(tmp_path, ["steady", "short", "silent"], ["good"])

    def both_gave_frames(status: Status) -> bool:
        return short_is_answered(status) and status.camera_states["steady"].predicted > 0

    cameras = status_of(run, both_gave_frames).camera_states
    assert list(cameras) == ["steady", "short", "silent"]
    steady, short, silent = cameras.values()
    assert steady.captured >= steady.predicted + sum(steady.dropped.values()) > 0
    assert (short.up, short.captured) == (False, 11)
    assert short.dropped["link"] == 1
    assert (silent.up, silent.ended, silent.captured, silent.reconnects) == (False, False, 0, 0)


def test_workers_that_are_lost_serve_or_are_not_needed(tmp_path: Path, status_of: Until) -> None:
    run = Run(tmp_path, ["steady"], ["exit 3", "good", "slow"])
    workers = status_of(run, lambda status: status.workers["local-1"].state == "serving").workers
    assert {name: (each.device, each.state, each.restarts) for name, each in workers.items()} == {
        "local-0": ("exit 3", "down", 1),
        "local-1": ("good", "serving", 0),
        "local-2": ("slow", "off", 0),
    }


@pytest.mark.deep
def test_a_worker_that_compiles_is_starting(tmp_path: Path, status_of: Until) -> None:
    status = status_of(Run(tmp_path, ["steady"], ["compiles"]), lambda _: True)
    assert status.workers["local-0"].state == "starting"


def test_joules_by_rail_since_the_start(tmp_path: Path, status_of: Until) -> None:
    run = Run(tmp_path, ["short", "silent"], ["good"], freshness={"keep": 64, "max_age_s": 60})
    status = status_of(run, short_is_answered)
    assert status.camera_states["short"].predicted == 10
    assert status.energy.rails == {"GPU": 5.0}
    assert status.energy.method == "measured"
