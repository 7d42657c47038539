"""The screen of `edged top`: a terminal that is drawn again and again, and its keys."""

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

from edged.cli.status_rows import ScreenPages, picture
from edged.client.node_state import NodeState


class LastWarning(logging.Handler):
    """Keeps edged's last warning for a line of the screen, since standard error is the same terminal."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Store the record's message in place of the last one."""
        self.text = record.getMessage()


class Screen:
    """The terminal's screen, drawn twice a second and after each key: `q` quits, space shows the next cameras."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._pages = ScreenPages()
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
            # Ctrl-Z would stop this process with the terminal still in its mode
            resources.callback(signal.signal, signal.SIGTSTP, signal.signal(signal.SIGTSTP, signal.SIG_IGN))
            resources.enter_context(self._live)
            self._resources = resources.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def wants_to_be_drawn(self) -> bool:
        """Return whether a key was pressed, or nothing has been drawn yet."""
        if sys.stdin.isatty() and select.select([sys.stdin], [], [], 0)[0]:
            self._keys += os.read(sys.stdin.fileno(), 64).decode(errors="replace") or "q"  # the terminal has gone
        return self._is_blank or bool(self._keys)

    def show(self, known: NodeState) -> bool:
        """Draw the state of the node; False if the user has quit."""
        keys, self._keys, self._is_blank = self._keys, "", False
        if "q" in keys.lower():
            return False
        self._pages.turn(keys.count(" "))
        size = self._console.size
        rows = picture(known, self._address, self._warning.text, size.width, size.height, self._pages)
        self._live.update(rows, refresh=True)
        return True
