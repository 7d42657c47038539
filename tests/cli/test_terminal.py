"""Notes, warnings and the status line on standard error."""

import io
import logging
import os
from collections.abc import Iterator

import pytest

from edged.cli.terminal import CLEAR, CompilingLine, StatusLine, note, print_notes, warn
from tests.cli.command import Terminal


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


def test_the_line_of_the_compiler_is_erased_at_its_end() -> None:
    terminal = Terminal()
    log = logging.Logger("compiling")
    log.addHandler(CompilingLine(StatusLine(terminal)))

    for done in range(2):
        log.info("compiling kernels %d/%d", done, 2)
    log.info("compiled kernels 2/2")

    before, zero, one, after = terminal.getvalue().split(CLEAR)
    assert "compiling kernels 0/2" in zero
    assert "compiling kernels 1/2" in one
    assert before == after == ""


def test_quiet_leaves_warnings_alone(capsys: pytest.CaptureFixture[str]) -> None:
    note("one")
    print_notes(enabled=False)
    note("two")
    warn("three")
    StatusLine().keep("four")

    assert capsys.readouterr().err == "edged: one\nedged: warning: three\n"
