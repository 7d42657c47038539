"""Standard error for people: notes, warnings, one status line that changes in place, and a bar of progress.

`--quiet` leaves out notes, the status line and the bar; warnings and errors are always printed.
"""

import logging
import math
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType
from typing import TextIO

from edged.system.own_command import as_typed
from edged.system.plain_text import fitted

_NOTES = logging.getLogger("edged.cli.notes")  # its level says whether notes are printed
LEAST_NAME = 8  # characters of a name in a table
INDENT = len("edged: ")  # of a message's further lines
CLEAR = "\r\x1b[K"  # to the start of the line, and erase it (ECMA-48, EL)
BAR = 20
EVERY_S = 30.0  # between two lines of progress, without a terminal
REFRESH_S = 0.1
COMPILING = "compiling"
COMPILING_S = 1.0  # a user who waits for longer wants to know for what


def is_terminal() -> bool:
    """Check whether standard output can show a screen."""
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def print_notes(*, enabled: bool) -> None:
    """Turn notes and status lines on or off."""
    _NOTES.setLevel(logging.INFO if enabled else logging.WARNING)


def are_notes_printed() -> bool:
    return _NOTES.isEnabledFor(logging.INFO)


def show(text: str, indent: int = 4) -> None:
    """Print text on standard output, its lines broken between words where a terminal is narrower."""
    print(fitted(as_typed(text), sys.stdout, indent), flush=True)


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Return for each name one of at most `width` characters: of a longer one the head and the end.

    Where the middle is left out is the same in all, and such that no two look alike; where no place does that,
    those that would look alike are numbered.
    """
    names = list(dict.fromkeys(names))
    heads = sorted(range(width), key=lambda head: abs(head - 2 * width // 3))
    cuts = ([_without_middle(name, head, width) for name in names] for head in heads)
    found = next((cut for cut in cuts if len(set(cut)) == len(names)), None)
    if found is None:
        found = [_without_middle(name, width - 1, width) for name in names]
        counts = Counter(found)
        found = [
            f"{cut[: width - 1 - len(str(index))]}…{index}" if counts[cut] > 1 else cut
            for index, cut in enumerate(found, 1)
        ]
    return dict(zip(names, found, strict=True))


def _without_middle(name: str, head: int, width: int) -> str:
    if len(name) <= width:
        return name
    return f"{name[:head]}…{name[len(name) - (width - 1 - head) :]}"


def room_for_names(names: Iterable[str], others: int) -> int:
    """Return how wide a column of names may be, beside `others` characters in a line of the terminal.

    Elsewhere it is as wide as its names.
    """
    longest = max(map(len, names))
    if not sys.stdout.isatty():
        return longest
    return max(LEAST_NAME, min(longest, shutil.get_terminal_size().columns - others))


def note(text: str) -> None:
    """Print `edged: text` on standard error, unless --quiet."""
    if are_notes_printed():
        print(fitted(f"edged: {as_typed(text)}", sys.stderr, INDENT), file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Print `edged: warning: text` on standard error."""
    print(fitted(f"edged: warning: {as_typed(text)}", sys.stderr, INDENT), file=sys.stderr, flush=True)


class StatusLine:
    """One line that changes in place on a terminal. Elsewhere: a line every `every_s` seconds.

    `clock`: seconds, monotonic.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        every_s: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._every_s, self._clock = every_s, clock
        self._is_on = stream is not None or are_notes_printed()
        self._is_terminal = self._stream.isatty()
        self._written_at = clock()
        self._is_shown = False

    def show(self, text: str) -> None:
        """Replace the line by `text`, cut to the width of the terminal."""
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(CLEAR + text[:width])
            self._is_shown = True
        elif self._clock() - self._written_at >= self._every_s:
            self.keep(text)

    def keep(self, text: str) -> None:
        """Write a line that stays, in place of the status line."""
        self._write(f"{CLEAR if self._is_shown else ''}{text}\n")
        self._is_shown = False
        self._written_at = self._clock()

    def clear(self) -> None:
        if self._is_shown:
            self._write(CLEAR)
        self._is_shown = False

    def end(self) -> None:
        """Leave the line as it is, and start a new one."""
        if self._is_shown:
            self._write("\n")
        self._is_shown = False

    def _write(self, text: str) -> None:
        if self._is_on:
            self._stream.write(text)
            self._stream.flush()


def format_time(seconds: float) -> str:
    """Format seconds as 1:07, or 2:01:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class CompilingLine(logging.Handler):
    """Shows the compiler's log records, `compiling …`, in a status line; any other record erases it."""

    def __init__(self, line: StatusLine) -> None:
        super().__init__()
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        """Show the message of `record`."""
        text = record.getMessage()
        if text.startswith(COMPILING):
            self._line.show(f"edged: {text} (only once)")
        else:
            self._line.clear()


class CompilingNote(logging.Handler):
    """Notes that kernels are compiled, if that has not ended after `after_s`: where no status line is shown."""

    def __init__(self, after_s: float = COMPILING_S) -> None:
        super().__init__()
        self._after_s = after_s
        self._timer: Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Begin to wait with the first record, `compiling …`; any other one ends that."""
        text = record.getMessage()
        if not text.startswith(COMPILING):
            if self._timer:
                self._timer.cancel()
            self._timer = None
        elif self._timer is None:
            self._timer = Timer(self._after_s, note, (f"{text}; this happens once",))
            self._timer.daemon = True
            self._timer.start()

    @property
    def is_due(self) -> bool:
        """Return whether the note will be written, unless the compiler ends before."""
        return self._timer is not None and not self._timer.finished.is_set()


@contextmanager
def compiling_shown(after_s: float = COMPILING_S) -> Iterator[None]:
    """Show meanwhile that kernels are compiled: on a terminal how far, elsewhere in a note after `after_s`.

    With --verbose, log lines do so.
    """
    progress = logging.getLogger("edged.compiling")
    if progress.isEnabledFor(logging.INFO) and not sys.stderr.isatty():
        yield
        return
    shown = CompilingLine(StatusLine()) if sys.stderr.isatty() else CompilingNote(after_s)
    level, propagate = progress.level, progress.propagate
    progress.addHandler(shown)
    progress.setLevel(logging.INFO)
    progress.propagate = False
    try:
        yield
    finally:
        progress.removeHandler(shown)
        progress.setLevel(level)
        progress.propagate = propagate


def interrupt_on_sigterm() -> None:
    """Raise KeyboardInterrupt at SIGTERM, as at Ctrl-C, so that the verb ends in order."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class Progress:
    """How many of `count` pictures are done. `begun_at`: those that an interrupted run has answered."""

    def __init__(self, begun_at: int, count: int) -> None:
        self._begun_at, self._count = begun_at, max(1, count)
        self._line = StatusLine(every_s=EVERY_S)
        self._start = self._shown_at = time.perf_counter()

    def show(self, done: int, remark: str) -> None:
        """Show how far it is, with a remark."""
        now = time.perf_counter()
        if now - self._shown_at < REFRESH_S:
            return
        self._shown_at = now
        bar = "#" * min(BAR, BAR * done // self._count)
        rate = self.rate(done, now - self._start)
        left = format_time(max(0, self._count - done) / rate) if rate else "?"
        self._line.show(f"[{bar:-<{BAR}}] {done}/{self._count}, {remark}, {rate:.0f} pictures/s, {left} left")

    def rate(self, done: int, seconds: float) -> float:
        """Return the pictures a second of this run."""
        return (done - self._begun_at) / seconds if seconds else 0.0

    def clear(self) -> None:
        self._line.clear()
