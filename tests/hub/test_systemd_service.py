"""What systemd hears of a whole hub whose peers do as they are told."""

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.hub.frames.jobs import Assigned
from edged.hub.frames.router import Router
from edged.hub.stats.summary import Limits
from tests.eventually import eventually, free_port
from tests.hub.running import Run
from tests.notified import Notified, notified


def notified_until_it_beats(folder: Path, patch: pytest.MonkeyPatch, run: Run) -> list[str]:
    """Return each line that systemd received from a run that ends after its first heartbeat."""
    with notified(folder, patch) as systemd:
        run.once(lambda: "WATCHDOG=1" in systemd.lines)
    return systemd.lines


def test_ready_comes_once_after_the_worker_is_warm_and_the_end_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = notified_until_it_beats(tmp_path, monkeypatch, Run(tmp_path, ["steady"], ["good"]))
    assert lines.count("READY=1") == 1
    assert lines[-1] == "STOPPING=1"
    assert "told on good" in lines[lines.index("READY=1") + 1]
    assert lines.index("READY=1") < lines.index("WATCHDOG=1")


def test_a_start_without_any_camera_is_ready_and_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = notified_until_it_beats(tmp_path, monkeypatch, Run(tmp_path, ["silent"], ["good"]))
    assert "0 of 1 cameras up (without silent)" in lines[lines.index("READY=1") + 1]


@pytest.mark.deep
def test_a_worker_that_compiles_asks_for_time_and_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with notified(tmp_path, monkeypatch) as systemd:
        run = Run(tmp_path, ["steady"], ["compiles"])
        monkeypatch.setattr(Limits, "count_reached", lambda *_: len(systemd.messages) > 3)
        run.until()
    assert "EXTEND_TIMEOUT_USEC=15000000" in systemd.lines
    assert any(re.search(r"worker local-0 is starting \([1-9]\d* s\)", line) for line in systemd.lines)
    assert "READY=1" not in systemd.lines


def test_a_reload_is_announced_with_its_time_and_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with notified(tmp_path, monkeypatch) as systemd:
        run = Run(tmp_path, ["steady"], ["good"])
        monkeypatch.setattr(Limits, "count_reached", lambda *_: systemd.lines.count("READY=1") > 1)
        threading.Thread(target=_hang_up_once_ready, args=(systemd,)).start()
        run.until()
    begun = systemd.messages.index(next(each for each in systemd.messages if each[0] == "RELOADING=1"))
    assert systemd.messages[begun][1].startswith("MONOTONIC_USEC=")
    assert ["READY=1"] in systemd.messages[begun:]


def _hang_up_once_ready(systemd: Notified) -> None:
    eventually(lambda: "READY=1" in systemd.lines)
    os.kill(os.getpid(), signal.SIGHUP)


@pytest.mark.deep
def test_a_router_that_hands_out_nothing_any_more_starves_the_watchdog_though_the_loop_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting_since: list[float] = []
    beats_before: list[int] = []  # while the camera was starting, which may take seconds

    with notified(tmp_path, monkeypatch) as systemd:

        def hand_out_nothing(router: Router, now_ns: int) -> Iterator[Assigned]:
            if not router.idle:
                waiting_since.append(time.monotonic())
                beats_before.append(systemd.lines.count("WATCHDOG=1"))
            return iter(())

        monkeypatch.setattr(Router, "assign_all", hand_out_nothing)
        run = Run(tmp_path, ["steady"], ["good"])
        run.once(lambda: waiting_since and time.monotonic() > waiting_since[0] + 4)
    assert "READY=1" in systemd.lines
    assert systemd.lines.count("WATCHDOG=1") - beats_before[0] <= 1  # for the first frame


@pytest.mark.deep
def test_a_hub_that_waits_for_a_worker_of_another_host_extends_its_start_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edged.hub.systemd_service.STARTING_NS", 0)
    far, link = {"device": "any", "host": "far"}, {"address": f"tcp://127.0.0.1:{free_port()}"}
    with notified(tmp_path, monkeypatch) as systemd:
        run = Run(tmp_path, ["steady"], [], workers=[far], link=link)
        monkeypatch.setattr(Limits, "count_reached", lambda *_: len(systemd.messages) > 5)
        run.until()
    assert systemd.lines.count("EXTEND_TIMEOUT_USEC=15000000") > 1
    assert "READY=1" not in systemd.lines
