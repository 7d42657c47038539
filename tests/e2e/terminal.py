"""A program in a terminal of its own, and what one would see there."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyte

from tests.eventually import LIMIT_S, TURN_S


class Terminal:
    """80×24, until it is resized."""

    def __init__(self, *command: str, **environment: str) -> None:
        self._ours, self._theirs = pty.openpty()
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self._screen)
        self.resize(80, 24)
        self.settings_before = self.settings
        self.written = b""
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *command],  # so that Ctrl-C reaches it
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env={name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
            | {"TERM": "xterm-256color", **environment},
        )

    @property
    def settings(self) -> list[Any]:
        """Of the terminal: echo, whole lines …"""
        return termios.tcgetattr(self._theirs)

    def rows(self) -> list[str]:
        """What is on the screen now."""
        while select.select([self._ours], [], [], 0)[0]:
            self.written += (news := os.read(self._ours, 65536))
            self._stream.feed(news)
        return [row.rstrip() for row in self._screen.display]

    def shows(self, *texts: str, within_s: float = LIMIT_S) -> list[str]:
        """The rows, once all of these are in them."""
        end_s = time.monotonic() + within_s
        while not all(any(text in row for row in self.rows()) for text in texts):
            assert time.monotonic() < end_s, "\n".join(self.rows())
            assert self.process.poll() is None, "\n".join(self.rows())
            select.select([self._ours], [], [], TURN_S)
        return self.rows()

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end(self) -> int:
        """The exit code."""
        while self.process.poll() is None:  # it may wait for us to read
            self.rows()
            select.select([self._ours], [], [], TURN_S)
        self.rows()
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)


@contextmanager
def edged_in_a_terminal(*arguments: str, **environment: str) -> Iterator[Terminal]:
    """`edged ARGUMENTS`; it is gone in the end."""
    terminal = Terminal(sys.executable, "-m", "edged", *arguments, **environment)
    try:
        yield terminal
    finally:
        terminal.close()
