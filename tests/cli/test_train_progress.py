"""What `edged train` shows while it works."""

import io
import os

import pytest

from edged.cli.train.work import EVERY_S, ProgressLines, epoch_line, progress_line
from edged.train.results import Epoch, TrainingProgress

HALF = TrainingProgress(
    epoch=3, epochs=10, step=50, steps=100, loss=0.12345, accuracy=0.9712, images_per_s=41200.4, left_s=67.2
)
DONE = Epoch(3, 60, 0.01, 0.1, 0.97, 0.2, 0.95)


class Terminal(io.StringIO):
    """One that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_says_where_it_stands_in_80_columns() -> None:
    line = progress_line(HALF)

    assert line == "[#####-----] epoch 3/10, loss 0.1235, 97.1 % right, 41200 images/s, 1:07 left"
    assert len(line) < 80


def test_hours_are_told() -> None:
    far = TrainingProgress(1, 1, 1, 100, 1.0, 0.1, 3.0, left_s=7267)

    assert progress_line(far).endswith("2:01:07 left")


def test_an_epoch_tells_of_what_is_held_out_where_anything_is() -> None:
    assert epoch_line(DONE) == "epoch 3: loss 0.1000, 97.00 % right; held out: loss 0.2000, 95.00 % right"
    assert epoch_line(Epoch(1, 20, 0.01, 0.1, 0.97, None, None)) == "epoch 1: loss 0.1000, 97.00 % right"


def test_a_terminal_has_one_line_that_changes_and_one_that_stays_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((40, 24)))
    terminal = Terminal()
    lines = ProgressLines(terminal)

    for one in (HALF, HALF, DONE):
        lines.show(one)
    lines.end()

    shown = f"\r{progress_line(HALF)[:39]}"
    assert terminal.getvalue() == f"{shown}{shown}\r{'':39}\r{epoch_line(DONE)}\n"


def test_elsewhere_there_is_a_line_an_epoch_and_one_each_half_minute() -> None:
    file, now = io.StringIO(), [0.0]
    lines = ProgressLines(file, lambda: now[0])

    lines.show(HALF)
    now[0] = EVERY_S
    lines.show(HALF)
    lines.show(HALF)
    lines.show(DONE)
    lines.end()

    assert file.getvalue() == f"{progress_line(HALF)}\n{epoch_line(DONE)}\n"
