"""A camera or worker that is a service of its own: what systemd hears of it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.system.systemd import SystemdUnit
from tests.eventually import eventually
from tests.notified import Notified, notified


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notified]:
    """It has started this process."""
    monkeypatch.setenv("SYSTEMD_EXEC_PID", str(os.getpid()))
    monkeypatch.setenv("WATCHDOG_USEC", "45000000")
    with notified(tmp_path, monkeypatch) as manager:
        yield manager


def test_it_asks_for_time_until_its_hub_has_let_it_in_and_lives_from_then_on(manager: Notified) -> None:
    unit = SystemdUnit()
    unit.keep_alive()
    eventually(lambda: "EXTEND_TIMEOUT_USEC=30000000" in manager.lines)
    assert unit.within_s == 1
    unit.joined("tcp://192.168.1.10:5572")
    eventually(lambda: "READY=1" in manager.lines)
    assert "STATUS=serves the hub at tcp://192.168.1.10:5572" in manager.lines
    assert unit.within_s == 15

    def lives() -> bool:
        unit.keep_alive()
        return "WATCHDOG=1" in manager.lines

    eventually(lives)


def test_systemd_is_notified_once_a_second_at_most(manager: Notified) -> None:
    unit = SystemdUnit()
    unit.joined("tcp://192.168.1.10:5572")
    for _ in range(100):
        unit.keep_alive()
    eventually(lambda: "WATCHDOG=1" in manager.lines)
    assert manager.lines.count("WATCHDOG=1") == 1


def test_a_child_of_a_hub_tells_nothing(manager: Notified, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTEMD_EXEC_PID", "1")
    unit = SystemdUnit()
    unit.keep_alive()
    unit.joined("ipc:///run/edged/link")
    unit.keep_alive()
    assert (manager.lines, unit.within_s) == ([], float("inf"))
