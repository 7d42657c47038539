"""Write to standard output and error whatever they are: closed, full, not read, or of another encoding.

Neither may be a cause of another exit code.
"""

import codecs
import errno
import logging
import os
import queue
import select
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

from edged.system.plain_text import counted

log = logging.getLogger("edged.terminal")

ESCAPED = "edged.escaped"  # `errors=` of a stream: characters missing in its encoding are written as JSON escapes
WAITING = 1000  # lines; further ones are lost, and counted
FLUSHED_S = 1.0
REDRAWN_S = 0.5
ERASE_BELOW = "\r\x1b[J"  # from the start of the line to the end of the screen (ECMA-48, ED)


def open_standard_streams() -> None:
    """Reserve the descriptors 0 to 2, and make the streams able to write every text."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # `edged run >&-`: the next socket would be standard output, and get its lines
            os.open(os.devnull, os.O_RDWR)
    codecs.register_error(ESCAPED, _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=ESCAPED)


def encoder_of(stream: TextIO | None) -> Callable[[str], bytes]:
    """Return the function that encodes text for a stream."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return lambda text: text.encode(encoding, ESCAPED)


def flush_standard_output() -> None:
    """Write buffered output. Raises OSError."""
    if sys.stdout:
        sys.stdout.flush()


def discard_unwritten() -> None:
    """Drop output that cannot be written: Python would try again at the end, and exit with code 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Escape `°` as `\u00b0`: JSON stays valid."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    units = (text[at : at + 2].hex() for at in range(0, len(text), 2))
    return "".join(f"\\u{unit}" for unit in units), error.end


class LineWriter:
    """Writes in a separate thread, so that no caller waits for a disk or a reader that has stopped.

    A line that cannot be written is lost; the number of lost lines is written once there is room again.
    On a terminal rows of status can be kept below the lines. The cursor then is at the start of the first of them,
    so that they can be erased however the terminal has broken them when it was resized.
    """

    def __init__(
        self,
        descriptor: int,
        encode: Callable[[str], bytes] = str.encode,
        on_failure: Callable[[OSError], None] = lambda _: None,
    ) -> None:
        """`on_failure`: called in that thread when lines begin to be lost."""
        self.error: OSError | None = None  # why the last line could not be written
        self._descriptor = descriptor
        self._encode = encode
        self._on_failure = on_failure
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)  # None: draw the rows below again
        self._draw: Callable[[], bytes] | None = None
        self._is_drawn = False
        self._lost = 0
        self._lock = threading.Lock()  # of the line above
        self._line_is_open = False
        threading.Thread(target=self._run, name=f"lines-{descriptor}", daemon=True).start()

    def write(self, line: str) -> None:
        """Queue a line, without its end. Never waits."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._count_lost(1)

    def keep_below(self, draw: Callable[[], bytes] | None) -> None:
        """Keep the rows that `draw` returns below all lines, drawn twice a second; None: erase them."""
        self._draw = draw
        with suppress(queue.Full):
            self._lines.put_nowait(None)

    def flush(self, within_s: float = FLUSHED_S) -> bool:
        """Wait until all lines were written or lost; return False if that takes longer."""
        until = time.monotonic() + within_s
        with self._lines.all_tasks_done:
            while self._lines.unfinished_tasks:
                if not self._lines.all_tasks_done.wait(max(0.0, until - time.monotonic())):
                    return False
        return True

    def _run(self) -> None:
        while True:
            try:
                line = self._lines.get(timeout=REDRAWN_S if self._draw else None)
            except queue.Empty:
                self._redraw()
                continue
            try:
                self._redraw() if line is None else self._put(line)
            except Exception:  # it costs this line, and is counted: a log cannot log its own fault
                self._count_lost(1)
            finally:
                self._lines.task_done()

    def _redraw(self) -> None:
        """Draw the rows below anew, or erase them."""
        with suppress(OSError):  # the next line fails too, and is counted
            below = self._below()
            if below or self._is_drawn:
                self._write(ERASE_BELOW.encode() + below)
            self._is_drawn, self._line_is_open = bool(below), False

    def _below(self) -> bytes:
        """Return the rows below, and the way back to the first of them."""
        try:
            rows = self._draw() if self._draw else b""
        except Exception:
            self._draw, rows = None, b""  # without them the lines are complete
            log.exception("the status cannot be drawn")
        count = rows.count(b"\n")
        return rows + b"\r" + (b"\x1b[%dA" % count if count else b"") if rows else b""

    def _put(self, line: str) -> None:
        lost, newline = self._lost, "\n" if self._line_is_open else ""
        note = f"… {counted(lost, 'line')} could not be written\n" if lost else ""
        erased = ERASE_BELOW.encode() if self._is_drawn else b""
        below = self._below()
        try:
            self._write(erased + self._encode(f"{newline}{note}{line}\n") + below)
            self._is_drawn = bool(below)
        except OSError as error:
            is_new, self.error = self.error is None, error
            self._count_lost(1)
            if is_new:
                self._on_failure(error)
        else:
            self.error, self._line_is_open = None, False
            self._count_lost(-lost)

    def _count_lost(self, lines: int) -> None:
        with self._lock:
            self._lost += lines

    def _write(self, data: bytes) -> None:
        """Write a line. Raises OSError; then part of a line may be written."""
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
                self._line_is_open = True
            except BlockingIOError:  # another process has made a terminal or pipe that we share non-blocking
                select.select([], [self._descriptor], [])


def is_gone(error: OSError) -> bool:
    """Return whether the error only means that the reader has ended, as in `edged … | head`."""
    return error.errno == errno.EPIPE
