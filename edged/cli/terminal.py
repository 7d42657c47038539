"""Terminal output: the line that shows a device compiling, and escaping of text that others chose."""

import logging
import sys
from typing import TextIO


class ProgressLine(logging.Handler):
    """Shows each event in the place of the one before it; the last, `compiled …`, only wipes that out."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        """Return to the line's start, clear it (ECMA-48, EL), and write."""
        text = record.getMessage()
        done = text.startswith("compiled")
        self._terminal.write("\r\x1b[K" + ("" if done else f"edged: {text} (once; the next start finds them)"))
        self._terminal.flush()


def show_compiling() -> None:
    """Let compilers' progress be seen, where standard error is a terminal."""
    if sys.stderr.isatty():
        progress = logging.getLogger("edged.compiling")
        progress.addHandler(ProgressLine(sys.stderr))
        progress.setLevel(logging.INFO)
        progress.propagate = False
