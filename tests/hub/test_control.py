"""What others of this host ask of a hub that runs."""

import os
import re
import signal
import threading
from pathlib import Path

import pytest

from edged.cli.daemon_client import connect_daemon, record
from edged.errors import EdgedError
from edged.messages import LinkMessage, ProfileRequest, RecordingStarted, TraceRequest
from edged.tracing.recording import RecordingRequest
from tests.eventually import LIMIT_S, eventually, in_background
from tests.hub.running import Run, goes_on, while_it_runs

LONG = 60.0  # seconds, the longest that may be asked for
NOTES = {"frame", "assign", "answer", "publish", "journal", "drop"}


def recorded(run: Run, request: ProfileRequest | TraceRequest) -> RecordingRequest:
    with connect_daemon(run.path, "trace") as daemon:
        return record(daemon, request)


def test_a_trace_has_what_the_hub_does_and_drops_with_their_reasons(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["slow"])

    def has_all() -> RecordingRequest | None:
        """A recording with each kind of note; on a machine that is busy half a second may lack some."""
        told = recorded(run, TraceRequest(seconds=0.5))
        return told if {note.name for note in told.processes["hub"].notes} >= NOTES else None

    told = while_it_runs(run, tmp_path, lambda: eventually(has_all))

    assert told.ended is not None
    assert (told.ended.reason, told.ended.missed) == ("time", 0)
    notes = told.processes["hub"].notes
    assert {note.name for note in notes} == NOTES
    reasons = {note.attributes["reason"] for note in notes if note.name == "drop"}
    assert {"superseded"} <= reasons <= {"superseded", "stale"}  # stale: the hub got no processor for a while
    arrived = {note.frames[0] for note in notes if note.name == "frame"}
    gone = [note.frames[0] for note in notes if note.name in {"drop", "publish"}]
    assert len(gone) == len(set(gone))
    assert len(arrived.symmetric_difference(gone)) <= 6  # those under way at the beginning or the end


def test_nobody_is_asked_to_guess_whose_kernels_are_wanted(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good", "good"], workers=[{"device": "good", "group": "a"}] * 2)
    wanted = ProfileRequest(frames=1, seconds=0.1)

    def refusal() -> str:
        try:
            recorded(run, wanted)
        except EdgedError as error:
            return str(error)
        return ""  # the second worker is not there yet

    refused = while_it_runs(run, tmp_path, lambda: eventually(refusal))

    assert re.fullmatch("name one with --worker: local-[01], local-[01]", refused)


def test_a_worker_that_is_not_there_is_refused_with_the_names_of_those_that_are(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"])
    wanted = ProfileRequest(worker="gpu", frames=1, seconds=LONG)

    with pytest.raises(EdgedError, match="no worker gpu is ready; there are: local-0"):
        while_it_runs(run, tmp_path, lambda: recorded(run, wanted))


def test_the_end_of_the_hub_ends_a_recording_and_its_client_has_what_was_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, begun = Run(tmp_path, ["steady"], ["good"]), threading.Event()

    def end_the_hub(_: threading.Event) -> None:
        assert begun.wait(LIMIT_S)
        goes_on(tmp_path)
        os.kill(os.getpid(), signal.SIGTERM)

    def until_it_ends() -> RecordingRequest:
        with connect_daemon(run.path, "trace") as daemon, in_background(end_the_hub):
            receive = daemon.receive

            def notices(*within_s: float) -> tuple[LinkMessage, bytes]:
                message, payload = receive(*within_s)
                if isinstance(message, RecordingStarted):
                    begun.set()
                return message, payload

            monkeypatch.setattr(daemon, "receive", notices)
            return record(daemon, TraceRequest(seconds=LONG))

    told = while_it_runs(run, tmp_path, until_it_ends)

    assert told.ended is not None
    assert told.processes["hub"].notes


def test_a_camera_or_worker_cannot_ask(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"])

    def ask() -> None:
        with connect_daemon(run.path, "camera") as daemon:
            record(daemon, TraceRequest(seconds=LONG))

    with pytest.raises(EdgedError, match=r"refuses this command: this hub's config has no camera"):
        while_it_runs(run, tmp_path, ask)
