"""Notes, warnings and the status line on standard error."""

import io
import logging
import os
from collections.abc import Iterator

import pytest

from edged.system.terminal import (
    CLEAR,
    CompilingLine,
    CompilingNote,
    StatusLine,
    compiling_shown,
    note,
    print_notes,
    shortened,
    warn,
)
from tests.cli.command import Terminal
from tests.eventually import eventually


@pytest.fixture(autouse=True)
def _notes_are_on_again() -> Iterator[None]:
    yield
    print_notes(enabled=True)


def test_a_terminal_has_one_line_that_changes_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((8, 24)))
    terminal = Terminal()
    line = StatusLine(terminal)

    line.show("1 of 3")
    line.show("2 of 3 and more")
    line.keep("kept")
    line.show("3 of 3")
    line.end()

    assert terminal.getvalue() == f"{CLEAR}1 of 3{CLEAR}2 of 3 {CLEAR}kept\n{CLEAR}3 of 3\n"


def test_a_file_gets_a_line_now_and_then() -> None:
    file, now = io.StringIO(), [0.0]
    line = StatusLine(file, every_s=30, clock=lambda: now[0])

    line.show("too early")
    now[0] = 30.0
    line.show("in time")
    line.show("too early again")
    line.keep("kept")
    line.end()

    assert file.getvalue() == "in time\nkept\n"


def test_a_file_gets_no_status_where_no_interval_is_given() -> None:
    file = io.StringIO()
    StatusLine(file).show("1 of 3")
    assert file.getvalue() == ""


KERNELS = "2 kernels for a board"


def test_the_line_of_the_compiler_is_erased_at_its_end() -> None:
    terminal = Terminal()
    log = logging.Logger("compiling")
    log.addHandler(CompilingLine(StatusLine(terminal)))

    log.info("compiling %s", KERNELS)
    log.info("compiling %s: 1 done", KERNELS)
    log.info("compiled %s", KERNELS)

    before, zero, one, after = terminal.getvalue().split(CLEAR)
    assert zero == "edged: compiling 2 kernels for a board (only once)"
    assert one == "edged: compiling 2 kernels for a board: 1 done (only once)"
    assert before == after == ""


def test_a_compiler_that_takes_long_is_noted_once_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = logging.getLogger("edged.compiling")
    written = ""

    def note_is_written() -> bool:
        nonlocal written
        written += capsys.readouterr().err
        return bool(written)

    with compiling_shown(after_s=0.01):
        log.info("compiling %s", KERNELS)
        eventually(note_is_written)
        log.info("compiling %s: 1 done", KERNELS)
        log.info("compiled %s", KERNELS)

    assert written + capsys.readouterr().err == "edged: compiling 2 kernels for a board; this happens once\n"


@pytest.mark.parametrize("last", ["compiled %s", "failed to compile %s"])
def test_a_compiler_that_has_ended_is_not_noted(last: str, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = CompilingNote(after_s=3600)
    log = logging.Logger("compiling")
    log.addHandler(waiting)

    log.info("compiling %s", KERNELS)
    assert waiting.is_due
    log.info(last, KERNELS)

    assert not waiting.is_due
    assert capsys.readouterr().err == ""


def test_verbose_has_log_lines_in_place_of_the_note(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")

    with compiling_shown(after_s=0):
        logging.getLogger("edged.compiling").info("compiling %s", KERNELS)

    assert caplog.messages == ["compiling 2 kernels for a board"]


def test_quiet_leaves_warnings_alone(capsys: pytest.CaptureFixture[str]) -> None:
    note("one")
    print_notes(enabled=False)
    note("two")
    warn("three")
    StatusLine().keep("four")

    assert capsys.readouterr().err == "edged: one\nedged: warning: three\n"


def test_long_names_keep_their_heads_and_no_two_look_alike() -> None:
    names = [f"layer.{block}.{part}.norm" for block in (3, 5, 7) for part in ("1", "4", "shortcut")]

    for width in range(8, 24):
        short = shortened(names, width)

        assert len(set(short.values())) == len(names)
        assert max(map(len, short.values())) <= width
    assert shortened(names, 13)["layer.5.shortcut.norm"].startswith("layer.5.s")


def test_names_that_differ_where_no_place_is_left_are_numbered() -> None:
    names = [f"{'a' * 20}{left}{'b' * 20}{right}{'c' * 20}" for left in "01" for right in "01"]

    short = shortened(names, 8)

    assert list(short.values()) == ["aaaaaa…1", "aaaaaa…2", "aaaaaa…3", "aaaaaa…4"]
