"""A hub that is ready goes on, whatever becomes of one child, file, folder or thread."""

import errno
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from edged.cli.daemon_client import connect_daemon
from edged.config import Config
from edged.config.load import load_config
from edged.config.overrides import Override
from edged.errors import ConfigError
from edged.hub import reload
from edged.hub.teaching import promotion
from edged.messages import PromoteAnswer, PromoteRequest, TeachRequest, TeachStarted
from edged.system.paths import runtime_directory
from edged.transport.keys import new_pair
from tests.eventually import eventually
from tests.hub.refused_start import refused_by_the_system
from tests.hub.running import Run, child, goes_on, while_it_runs
from tests.hub.taught_heads import keep_unread_version

pytestmark = pytest.mark.deep


def test_a_machine_that_starts_no_process_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(tmp_path, ["steady"], ["good"])

    def exhaust() -> None:
        worker, camera = child("worker", "0"), child("camera", "steady")
        monkeypatch.setattr(subprocess, "Popen", refused_by_the_system(errno.EAGAIN, 4))
        worker.kill()
        camera.kill()
        eventually(lambda: caplog.text.count("could not be started") == 4)
        goes_on(tmp_path)

    while_it_runs(run, tmp_path, exhaust)
    assert "worker local-0 could not be started: " in caplog.text
    assert "camera process steady could not be started: " in caplog.text
    assert "is given up" not in caplog.text  # the device has no part in it


@pytest.mark.parametrize(
    "what",
    ["folder", pytest.param("config", marks=pytest.mark.deep), pytest.param("socket", marks=pytest.mark.deep)],
)
def test_what_children_need_to_find_the_hub_is_made_again_after_it_was_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    run = Run(tmp_path, ["steady"], ["good"])

    def tidy_up() -> None:
        folder = runtime_directory(tmp_path / "journal.sqlite")
        if what == "folder":
            shutil.rmtree(folder)
        else:
            (folder / {"config": "config.json", "socket": "hub"}[what]).unlink()
        eventually(lambda: "and is restored" in caplog.text)
        for verb, name in (("camera", "steady"), ("worker", "0")):
            before = child(verb, name)
            before.kill()
            eventually(lambda: not before.is_running())  # noqa: B023
            goes_on(tmp_path)

    while_it_runs(run, tmp_path, tidy_up)
    assert not runtime_directory(tmp_path / "journal.sqlite").exists()


def test_a_config_that_is_being_written_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    run = Run(tmp_path, ["steady"], ["good"])
    before = json.loads(run.path.read_text())
    text = json.dumps({**before, "publish": {**before["publish"], "top": 1}})
    refused: list[ConfigError] = []

    def load(path: Path, settings: Sequence[Override]) -> Config:
        try:
            return load_config(path, settings)
        except ConfigError as error:
            refused.append(error)
            path.write_text(text)  # the editor has gone on
            raise

    def reload_while_it_is_written() -> None:
        monkeypatch.setattr(reload, "load_config", load)
        run.path.write_text(text[: len(text) // 2])
        os.kill(os.getpid(), signal.SIGHUP)
        eventually(lambda: "is applied: settings: publish.top" in caplog.text)
        goes_on(tmp_path)

    while_it_runs(run, tmp_path, reload_while_it_is_written)
    assert len(refused) == 1
    assert "the present config stays in use" not in caplog.text


def test_a_config_that_stays_wrong_is_refused_and_the_one_before_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(tmp_path, ["steady"], ["good"])

    def empty() -> None:
        run.path.write_text("")
        os.kill(os.getpid(), signal.SIGHUP)
        eventually(lambda: "the present config stays in use" in caplog.text)
        goes_on(tmp_path)

    while_it_runs(run, tmp_path, empty)


def test_keys_that_make_no_sense_are_a_reload_that_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    new_pair(tmp_path, "hub")
    new_pair(tmp_path, "alice")
    security = {"key": str(tmp_path / "hub.key"), "allow": [str(tmp_path / "alice.pub")]}
    run = Run(tmp_path, ["steady"], ["good"], security=security)
    keys = tmp_path / "alice.pub"

    def rewrite() -> None:
        contents = ("", "curve", 'metadata\ncurve\n    public-key = "{}"\n'.format("#" * 40), None)
        for count, content in enumerate(contents, 1):
            keys.unlink() if content is None else keys.write_text(content)
            os.kill(os.getpid(), signal.SIGHUP)
            eventually(lambda: caplog.text.count("the present config stays in use") == count)  # noqa: B023
            goes_on(tmp_path)

    while_it_runs(run, tmp_path, rewrite)


def test_a_machine_that_gives_no_thread_refuses_what_needs_one(
    tmp_path: Path, lessons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, ["steady"], ["good"])
    version = keep_unread_version(lessons, "cat", "dog")
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "taught":
            raise RuntimeError("can't start new thread")
        real(thread)

    def teach() -> TeachStarted:
        monkeypatch.setattr(threading.Thread, "start", start)
        with connect_daemon(run.path, "teach") as daemon:
            daemon.send(TeachRequest(mode="shadow", version=version, seconds=60.0))
            begins, _ = daemon.receive()
        goes_on(tmp_path)
        assert isinstance(begins, TeachStarted)
        return begins

    assert while_it_runs(run, tmp_path, teach).refused == "this cannot be done now: can't start new thread"


def test_an_exception_in_the_thread_that_reads_a_version_refuses_the_request(
    tmp_path: Path, lessons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, ["steady"], ["good"])
    version = keep_unread_version(lessons, "cat", "dog")

    def fail(*_: object) -> NoReturn:
        raise RuntimeError("injected")

    def promote() -> PromoteAnswer:
        monkeypatch.setattr(promotion, "load_taught_head", fail)
        with connect_daemon(run.path, "teach") as daemon:
            daemon.send(PromoteRequest(version=version))
            answer, _ = daemon.receive()
        goes_on(tmp_path)
        assert isinstance(answer, PromoteAnswer)
        return answer

    answer = while_it_runs(run, tmp_path, promote)
    assert answer.message == "this cannot be done now: RuntimeError: injected; nothing has changed"
