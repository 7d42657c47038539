"""What `edged train` shows while it works."""

from edged.cli.train.work import epoch_line, progress_line, show_progress
from edged.system.terminal import CLEAR, StatusLine
from edged.train.results import Epoch, TrainingProgress
from tests.cli.command import Terminal

HALF = TrainingProgress(
    epoch=3, epochs=10, step=50, steps=100, loss=0.12345, accuracy=0.9712, images_per_s=41200.4, left_s=67.2
)
DONE = Epoch(3, 60, 0.01, 0.1, 0.97, 0.2, 0.95)


def test_a_line_says_where_it_stands_in_80_columns() -> None:
    line = progress_line(HALF)

    assert line == "[#####-----] epoch 3/10, loss 0.1235, 97.1 % right, 41200 images/s, 1:07 left"
    assert len(line) < 80


def test_hours_are_shown() -> None:
    far = TrainingProgress(1, 1, 1, 100, 1.0, 0.1, 3.0, left_s=7267)

    assert progress_line(far).endswith("2:01:07 left")


def test_an_epoch_has_its_validation_loss_if_there_is_one() -> None:
    assert epoch_line(DONE) == "epoch 3: loss 0.1000, 97.00 % right; validation: loss 0.2000, 95.00 % right"
    assert epoch_line(Epoch(1, 20, 0.01, 0.1, 0.97, None, None)) == "epoch 1: loss 0.1000, 97.00 % right"


def test_each_epoch_keeps_a_line_and_the_progress_between_them_changes_in_place() -> None:
    terminal = Terminal()
    line = StatusLine(terminal)

    for one in (HALF, HALF, DONE):
        show_progress(line, one)
    line.end()

    shown = f"{CLEAR}{progress_line(HALF)[:79]}"
    assert terminal.getvalue() == f"{shown}{shown}{CLEAR}{epoch_line(DONE)}\n"
