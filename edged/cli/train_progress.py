"""What `edged train` shows while it works: on a terminal a bar that moves, elsewhere a line now and then."""

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

from edged.train.history import Epoch, Progress

BAR = 10
EVERY_S = 30.0  # a line between two epochs, where there is no terminal


class ProgressLines:
    """Shows to `stream` where a training stands; a line of its own stays for each epoch."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream or sys.stderr, clock
        self._is_terminal = self._stream.isatty()
        self._shown_at = clock()
        self._is_open = False

    def show(self, one: Progress | Epoch) -> None:
        """After some steps, and after each epoch."""
        if isinstance(one, Epoch):
            self._line(epoch_line(one))
        elif self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r{progress_line(one)[:width]:{width}}")
            self._is_open = True
        elif self._clock() - self._shown_at >= EVERY_S:
            self._line(progress_line(one))

    def end(self) -> None:
        """Leave the line as it is."""
        if self._is_open:
            self._write("\n")
        self._is_open = False

    def _line(self, text: str) -> None:
        if self._is_open:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r{'':{width}}\r")
        self._write(f"{text}\n")
        self._is_open = False
        self._shown_at = self._clock()

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def progress_line(progress: Progress) -> str:
    """[##--------] epoch 3/10, loss 0.1234, 97.1 % right, 41200 images/s, 1:07 left"""
    bar = "#" * (BAR * progress.step // progress.steps)
    where = f"epoch {progress.epoch}/{progress.epochs}"
    learnt = f"loss {progress.loss:.4f}, {100 * progress.accuracy:.1f} % right"
    return (
        f"[{bar:-<{BAR}}] {where}, {learnt}, {progress.images_per_s:.0f} images/s, {_clock(progress.left_s)} left"
    )


def epoch_line(epoch: Epoch) -> str:
    """epoch 3: loss 0.1234, 97.1 % right; held out: loss 0.1311, 96.2 % right"""
    line = f"epoch {epoch.epoch}: loss {epoch.loss:.4f}, {100 * epoch.accuracy:.2f} % right"
    if epoch.validation_loss is None or epoch.validation_accuracy is None:
        return line
    return f"{line}; held out: loss {epoch.validation_loss:.4f}, {100 * epoch.validation_accuracy:.2f} % right"


def _clock(seconds: float) -> str:
    """1:07, or 2:01:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
