"""The screen of `edged top`, drawn with rich, which is not installed with edged."""

import logging
import os
import select
import signal
import sys
import termios
import tty
from contextlib import ExitStack
from typing import Self

from rich.console import Console
from rich.live import Live

from edged.cli.top_picture import Pages, picture
from edged.client.known import Known


class LastWarning(logging.Handler):
    """Of edged: the screen has a line for it, as standard error is the same terminal."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Remember it in place of the one before."""
        self.text = record.getMessage()


class Screen:
    """Drawn twice a second and after each key: `q` ends it, the space bar shows the next cameras."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._pages = Pages()
        self._warning = LastWarning()
        self._keys = ""
        self._is_blank = True
        self._console = Console(highlight=False)
        self._live = Live(console=self._console, screen=True, auto_refresh=False, redirect_stderr=False)
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal that knows ASCII alone
        with ExitStack() as resources:
            logging.getLogger("edged").addHandler(self._warning)
            resources.callback(logging.getLogger("edged").removeHandler, self._warning)
            if sys.stdin.isatty():
                resources.callback(termios.tcsetattr, sys.stdin, termios.TCSADRAIN, termios.tcgetattr(sys.stdin))
                tty.setcbreak(sys.stdin)
            # Ctrl-Z would leave a screen behind that is not ours to leave
            resources.callback(signal.signal, signal.SIGTSTP, signal.signal(signal.SIGTSTP, signal.SIG_IGN))
            resources.enter_context(self._live)
            self._resources = resources.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def wants_to_be_drawn(self) -> bool:
        """Whether a key was pressed, or nothing is there yet."""
        if sys.stdin.isatty() and select.select([sys.stdin], [], [], 0)[0]:
            self._keys += os.read(sys.stdin.fileno(), 64).decode(errors="replace") or "q"  # the terminal has gone
        return self._is_blank or bool(self._keys)

    def show(self, known: Known) -> bool:
        """Draw what is known; False where the user has had enough."""
        keys, self._keys, self._is_blank = self._keys, "", False
        if "q" in keys.lower():
            return False
        self._pages.turn(keys.count(" "))
        size = self._console.size
        rows = picture(known, self._address, self._warning.text, size.width, size.height, self._pages)
        self._live.update(rows, refresh=True)
        return True
