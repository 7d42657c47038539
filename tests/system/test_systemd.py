"""What systemd hears on its socket of a service and of a unit for a camera or worker, and its environment."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edged.system import systemd
from edged.system.systemd import SystemdUnit
from tests.eventually import eventually
from tests.notified import Notified, notified


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notified]:
    with notified(tmp_path, monkeypatch, abstract=request.param == "abstract") as manager:
        yield manager


@pytest.mark.parametrize(
    ("tell", "lines"),
    [
        (systemd.ready, ["READY=1"]),
        (lambda: systemd.ready("30 fps"), ["READY=1", "STATUS=30 fps"]),
        (lambda: systemd.status("30 fps"), ["STATUS=30 fps"]),
        (systemd.stopping, ["STOPPING=1"]),
        (systemd.watchdog, ["WATCHDOG=1"]),
        (lambda: systemd.extend_timeout(1.5), ["EXTEND_TIMEOUT_USEC=1500000"]),
    ],
)
def test_systemd_hears_each_of_these(manager: Notified, tell: Callable[[], bool], lines: list[str]) -> None:
    assert tell()
    assert eventually(lambda: manager.messages) == [lines]


def test_a_reload_bears_the_monotonic_time_at_which_it_began(manager: Notified) -> None:
    before = time.monotonic_ns() // 1000
    assert systemd.reloading()
    [[reloading, stamp]] = eventually(lambda: manager.messages)
    assert reloading == "RELOADING=1"
    assert before <= int(stamp.removeprefix("MONOTONIC_USEC=")) <= time.monotonic_ns() // 1000


def test_a_status_of_several_lines_cannot_forge_another_message(manager: Notified) -> None:
    systemd.status("door is down\nSTOPPING=1")
    assert eventually(lambda: manager.lines) == ["STATUS=door is down STOPPING=1"]


@pytest.mark.parametrize("address", [None, "", "vsock:2:1234", "/nonexistent/notify"])
def test_where_nobody_listens_nothing_happens(monkeypatch: pytest.MonkeyPatch, address: str | None) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    if address is not None:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
    assert not systemd.ready()


def test_a_systemd_that_does_not_read_cannot_stop_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setattr(systemd, "PATIENCE_S", 0.01)
        assert systemd.watchdog()
        eventually(lambda: not systemd.watchdog())  # once the queue is full


@pytest.mark.parametrize(
    ("microseconds", "for_whom", "interval_s"),
    [
        ("30000000", str(os.getpid()), 30.0),
        ("1500000", None, 1.5),
        ("30000000", "1", None),  # meant for another process
        ("0", None, None),
        ("soon", None, None),
        (None, None, None),
    ],
    ids=["for us", "for all", "for another process", "none", "no number", "not asked for"],
)
def test_how_often_the_watchdog_wants_a_sign(
    monkeypatch: pytest.MonkeyPatch, microseconds: str | None, for_whom: str | None, interval_s: float | None
) -> None:
    for name, value in (("WATCHDOG_USEC", microseconds), ("WATCHDOG_PID", for_whom)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert systemd.watchdog_interval_s() == interval_s


@pytest.mark.parametrize(
    ("pid", "is_it"),
    [(str(os.getpid()), True), ("1", False), (None, False)],
    ids=["ours", "another one's", "none"],
)
def test_only_the_process_of_the_unit_itself_is_started_by_systemd(
    monkeypatch: pytest.MonkeyPatch, pid: str | None, is_it: bool
) -> None:
    monkeypatch.delenv("SYSTEMD_EXEC_PID", raising=False)
    if pid is not None:
        monkeypatch.setenv("SYSTEMD_EXEC_PID", pid)
    assert systemd.is_started_by_systemd() is is_it


@pytest.fixture
def unit_manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notified]:
    """It has started this process."""
    monkeypatch.setenv("SYSTEMD_EXEC_PID", str(os.getpid()))
    monkeypatch.setenv("WATCHDOG_USEC", "45000000")
    with notified(tmp_path, monkeypatch) as unit_manager:
        yield unit_manager


def test_it_asks_for_time_until_its_hub_has_let_it_in_and_lives_from_then_on(unit_manager: Notified) -> None:
    unit = SystemdUnit()
    unit.keep_alive()
    eventually(lambda: "EXTEND_TIMEOUT_USEC=30000000" in unit_manager.lines)
    assert unit.within_s == 1
    unit.joined("tcp://192.168.1.10:5572")
    eventually(lambda: "READY=1" in unit_manager.lines)
    assert "STATUS=serves the hub at tcp://192.168.1.10:5572" in unit_manager.lines
    assert unit.within_s == 15

    def lives() -> bool:
        unit.keep_alive()
        return "WATCHDOG=1" in unit_manager.lines

    eventually(lives)


def test_systemd_is_notified_once_a_second_at_most(unit_manager: Notified) -> None:
    unit = SystemdUnit()
    unit.joined("tcp://192.168.1.10:5572")
    for _ in range(100):
        unit.keep_alive()
    eventually(lambda: "WATCHDOG=1" in unit_manager.lines)
    assert unit_manager.lines.count("WATCHDOG=1") == 1


def test_a_child_of_a_hub_tells_nothing(unit_manager: Notified, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTEMD_EXEC_PID", "1")
    unit = SystemdUnit()
    unit.keep_alive()
    unit.joined("ipc:///run/edged/link")
    unit.keep_alive()
    assert (unit_manager.lines, unit.within_s) == ([], float("inf"))
