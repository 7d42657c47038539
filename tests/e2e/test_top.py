"""`edged top` in a real terminal, with a real daemon."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, run_edged
from tests.e2e.terminal import Terminal, edged_in_a_terminal
from tests.eventually import LIMIT_S, eventually

pytestmark = pytest.mark.deep

ALL_IS_WELL = ("2 of 2 cameras up", "local-0 serving: NumPy")  # by predictions, and by the status


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("top")
    config = config_in(folder, cameras={"door": SYNTHETIC, "gate": SYNTHETIC})
    with run_edged(folder, config=config) as daemon:
        daemon.first(1)
        yield daemon


def row_of(camera: str, rows: list[str]) -> str:
    return next((row for row in rows if row.startswith(camera)), "")


def test_what_a_user_sees_of_a_daemon_that_works(daemon: Daemon) -> None:
    with edged_in_a_terminal("top", daemon.address) as terminal:
        rows = terminal.shows(*ALL_IS_WELL, "prep")
        figures = r"door +up +\d+\.\d \S+ \d+% +\d\.\d\d s +\S+ +\S+ +\d+.*"
        eventually(lambda: re.fullmatch(figures, row_of("door", terminal.rows())))
        assert len(rows) == 24
        assert all(len(row) < 80 for row in rows)
        terminal.resize(50, 12)
        rows = eventually(lambda: drawn_whole(terminal))
        assert row_of("gate", rows)


def drawn_whole(terminal: Terminal) -> list[str]:
    """The rows, once the first and the last one of a picture are the first and the last one of the screen."""
    rows = terminal.rows()
    return rows if rows[0].startswith("edged") and rows[-1].startswith("q: quit") else []


def test_a_camera_that_dies_is_down_at_once_and_up_again_by_itself(daemon: Daemon) -> None:
    with edged_in_a_terminal("top", daemon.address) as terminal:
        terminal.shows(*ALL_IS_WELL)
        eventually(lambda: is_down_by_a_kill(terminal, daemon))
        terminal.shows("2 of 2 cameras up", "camera door")


def is_down_by_a_kill(terminal: Terminal, daemon: Daemon) -> bool:
    kill_camera(daemon, "door")
    return any("DOWN" in row for row in terminal.rows())


def kill_camera(daemon: Daemon, name: str) -> None:
    """As often as it is there: a camera that comes back at once is soon down again."""
    for child in daemon.children():
        try:
            if {"camera", name} <= set(child.cmdline()):
                child.kill()
        except psutil.NoSuchProcess:
            pass


def test_a_daemon_that_stands_still_is_shown_as_such_until_it_goes_on(daemon: Daemon) -> None:
    with edged_in_a_terminal("top", daemon.address) as terminal:
        terminal.shows(*ALL_IS_WELL)
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            rows = terminal.shows(f"nothing from {daemon.address} for ")
            assert "UNKNOWN" in row_of("door", rows)
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        rows = terminal.shows("2 of 2 cameras up")
        assert not any("nothing from" in row for row in rows)


@pytest.mark.parametrize("end", ["q", "\x03", "SIGTERM"], ids=["q", "Ctrl-C", "SIGTERM"])
def test_whatever_ends_it_the_terminal_is_as_it_was(daemon: Daemon, end: str) -> None:
    with edged_in_a_terminal("top", daemon.address) as terminal:
        terminal.shows("q: quit")
        assert terminal.settings != terminal.settings_before
        terminal.process.terminate() if end == "SIGTERM" else terminal.press(end)
        assert terminal.end() == 0
        assert leaves_the_screen(terminal)
        assert terminal.settings == terminal.settings_before
        assert b"Traceback" not in terminal.written


def leaves_the_screen(terminal: Terminal) -> bool:
    """For the one that was there before, with a cursor."""
    return terminal.written.rindex(b"\x1b[?1049l") > terminal.written.rindex(b"\x1b[?1049h") and (
        terminal.written.rindex(b"\x1b[?25h") > terminal.written.rindex(b"\x1b[?25l")
    )


def test_without_a_terminal_it_is_a_line_a_camera(daemon: Daemon) -> None:
    command = [sys.executable, "-m", "edged", "top", daemon.address, "--every", "1.5", "--count", "1"]
    environment = {**os.environ, "TERM": "dumb"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [dict(re.findall(r'(\w+)=("[^"]*"|\S*)', line)) for line in done.stdout.splitlines()]
    assert {(line["node"], line["camera"], line["state"]) for line in lines} == {
        ("test", "door", "up"),
        ("test", "gate", "up"),
    }
    assert all(float(line["age_s"]) >= 0 and float(line["fps"]) > 0 for line in lines)
