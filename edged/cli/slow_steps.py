"""What a command does while it prints nothing, if that takes longer than a moment."""

import sys
import time
from collections.abc import Callable
from threading import Timer
from types import TracebackType
from typing import Self

from edged.system.terminal import StatusLine, note

AFTER_S = 1.0  # a user who waits for longer wants to know for what
APART_S = 10.0  # between two notes


class SlowSteps:
    """Says on standard error what is done: at once in a line of a terminal, elsewhere in a note after a second.

    `clock`: seconds, monotonic.
    """

    def __init__(self, after_s: float = AFTER_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._line = StatusLine() if sys.stderr.isatty() else None
        self._after_s, self._clock = after_s, clock
        self._noted_at = -APART_S
        self._timer: Timer | None = None

    def begin(self, step: str) -> None:
        """Begin a step, `opening OpenCL runtimes`, which ends the one before."""
        self._cancel()
        if self._line:
            self._line.show(f"edged: {step} …")
            return
        self._timer = Timer(max(self._after_s, self._noted_at + APART_S - self._clock()), self._note, (step,))
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """End the last step, and erase the line."""
        self._cancel()
        if self._line:
            self._line.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _note(self, step: str) -> None:
        self._noted_at = self._clock()
        note(f"{step} …")

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None
