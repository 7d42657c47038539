"""What a command says that it does, where it prints nothing yet."""

import sys

import pytest

from edged.cli.slow_steps import APART_S, SlowSteps
from edged.system.terminal import CLEAR, print_notes
from tests.cli.command import Terminal
from tests.eventually import eventually


@pytest.fixture(autouse=True)
def _notes_are_on() -> None:
    print_notes(enabled=True)


class Said:
    """What was written on standard error so far."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys, self._text = capsys, ""

    def text(self) -> str:
        self._text += self._capsys.readouterr().err
        return self._text


def test_a_step_that_takes_long_is_noted_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    said = Said(capsys)

    with SlowSteps(after_s=0.01) as steps:
        steps.begin("opening drivers")
        eventually(lambda: said.text() == "edged: opening drivers …\n")


def test_quick_steps_are_not_noted(capsys: pytest.CaptureFixture[str]) -> None:
    with SlowSteps(after_s=60) as steps:
        steps.begin("opening drivers")
        timer = steps._timer
        steps.begin("looking for cameras")

    assert timer
    timer.join()
    assert capsys.readouterr().err == ""


def test_notes_are_some_seconds_apart(capsys: pytest.CaptureFixture[str]) -> None:
    said, now = Said(capsys), [0.0]

    with SlowSteps(after_s=0.01, clock=lambda: now[0]) as steps:
        steps.begin("first")
        eventually(lambda: said.text() == "edged: first …\n")
        steps.begin("second")
        assert steps._timer
        assert steps._timer.interval == APART_S


def test_a_terminal_shows_each_step_at_once_and_erases_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    with SlowSteps() as steps:
        steps.begin("opening drivers")

    assert terminal.getvalue() == f"{CLEAR}edged: opening drivers …{CLEAR}"
