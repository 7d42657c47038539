"""Crops and features for who teaches, and a version in the shadow of what answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edged.cli.daemon_client import DaemonClient, connect_daemon
from edged.messages import (
    CropSample,
    LinkMessage,
    ShadowResult,
    TeachEnded,
    TeachRequest,
    TeachStarted,
)
from tests.eventually import eventually
from tests.hub.peers import CROSSING, MODEL, SIDE
from tests.hub.running import PATIENT, Run, while_it_runs
from tests.hub.taught_heads import keep_unread_version

LONG = 60.0


def taught(run: Run, request: TeachRequest) -> list[tuple[LinkMessage, bytes]]:
    """All that comes until the end."""
    with connect_daemon(run.path, "teach") as daemon:
        daemon.send(request)
        return until_the_end(daemon)


def until_the_end(daemon: DaemonClient) -> list[tuple[LinkMessage, bytes]]:
    told = [daemon.receive()]
    while not isinstance(last := told[-1][0], TeachEnded) and not (
        isinstance(last, TeachStarted) and last.refused
    ):
        told.append(daemon.receive())
    return told


def refusal(told: list[tuple[LinkMessage, bytes]]) -> str:
    ((begins, _),) = told
    assert isinstance(begins, TeachStarted)
    return begins.refused


def test_who_teaches_gets_the_frames_of_a_camera_with_their_features_at_its_rate(
    tmp_path: Path, lessons: Path
) -> None:
    run = Run(tmp_path, ["steady", "steady-2"], ["good"])
    request = TeachRequest(mode="record", camera="steady", every_s=0.05, frames=8, seconds=LONG)

    told = while_it_runs(run, tmp_path, lambda: taught(run, request))

    assert told[0][0] == TeachStarted(node="test", folder=str(lessons), base=MODEL)
    crops = [(message, payload) for message, payload in told if isinstance(message, CropSample)]
    assert {(each.camera, each.width, each.height, each.features) for each, _ in crops} == {
        ("steady", SIDE, SIDE, CROSSING)
    }
    assert all(payload == bytes(SIDE * SIDE * 3 + 4 * CROSSING) for _, payload in crops)
    assert [label.label for label in crops[0][0].top] == ["yes", "no"]
    assert told[-1][0] == TeachEnded(reason="frames", frames=8, missed=0)
    spent_s = crops[-1][0].captured_at - crops[0][0].captured_at
    assert spent_s > 5 * 0.05  # of 7: a frame may be late


def test_a_version_answers_every_frame_in_the_shadow_and_the_stream_tells_both(
    tmp_path: Path, lessons: Path
) -> None:
    version = keep_unread_version(lessons, "open", "closed")
    run = Run(tmp_path, ["steady"], ["good"], freshness=PATIENT)
    request = TeachRequest(mode="shadow", version=version, frames=20, seconds=LONG)

    with run.events() as events:
        told = while_it_runs(run, tmp_path, lambda: taught(run, request))

    shadows = [message for message, _ in told if isinstance(message, ShadowResult)]
    assert len(shadows) == 20
    assert [label.label for label in shadows[0].top] == ["yes", "no"]
    assert [label.label for label in shadows[0].shadow] == ["closed", "open"]
    numbers = [shadow.frame for shadow in shadows]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] - numbers[0] - 19 <= run.summary["dropped"].get("superseded", 0)
    published = [event.shadow for event in events if event.event == "shadow"]
    assert [(each.frame, each.sha256, each.shadow_sha256) for each in published if each] == [
        (number, MODEL.sha256, version) for number in numbers
    ]
    assert published[0] is not None
    assert [label.label for label in published[0].shadow_top] == ["closed", "open"]


def test_what_cannot_be_is_refused_with_the_reason(tmp_path: Path, lessons: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"])
    requests = {
        TeachRequest(mode="record", camera="attic", seconds=1): "has no camera attic; there are: steady",
        TeachRequest(mode="record", seconds=1): "no camera was named",
        TeachRequest(mode="shadow", seconds=1): "no version was named",
        TeachRequest(mode="shadow", version="7" * 64, seconds=1): f"({lessons}/versions/777",
    }

    why = while_it_runs(run, tmp_path, lambda: [refusal(taught(run, request)) for request in requests])

    assert [each for each, expected in zip(why, requests.values(), strict=True) if expected not in each] == []


def test_a_model_that_cannot_be_taught_is_refused_and_its_worker_goes_on(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["stubborn"])
    request = TeachRequest(mode="record", camera="steady", seconds=1)

    why = while_it_runs(run, tmp_path, lambda: refusal(taught(run, request)))

    assert why == "told does not end in a fully connected layer: it cannot be taught"


KILLED = """
import sys, time
from edged.cli.daemon_client import connect_daemon
from edged.messages import TeachRequest
with connect_daemon(sys.argv[1], "teach") as daemon:
    daemon.send(TeachRequest(mode="record", camera="steady", seconds=60))
    print(daemon.receive(), flush=True)
    time.sleep(60)
"""


@pytest.mark.deep
def test_one_at_a_time_teaches_and_a_killed_one_is_noticed(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"])
    request = TeachRequest(mode="record", camera="steady", frames=1, seconds=LONG)

    def one_after_the_other() -> list[str]:
        first = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(run.path)], stdout=subprocess.PIPE, env=os.environ.copy()
        )
        assert first.stdout is not None
        first.stdout.readline()
        busy = refusal(taught(run, request))
        first.kill()
        first.communicate()
        eventually(lambda: len(taught(run, request)) > 1)
        return [busy, str(first.pid)]

    busy, pid = while_it_runs(run, tmp_path, one_after_the_other)

    assert f"another `edged teach` (process {pid})" in busy
    assert "one session at a time" in busy
