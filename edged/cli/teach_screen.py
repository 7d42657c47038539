"""What `edged teach` shows while it goes on: a line with a rate, and the last crop where the terminal can."""

import shutil
import time
from types import TracebackType
from typing import Self, TextIO

from edged.teach.pictures import in_terminal, shows_colours
from edged.teach.store_crop import Pixels

COLUMNS = 24
DRAWN_EVERY_S = 0.25
WRITTEN_EVERY_S = 5.0


class Screen:
    """On a terminal it is drawn in place; elsewhere it is a line now and then."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._in_place = out.isatty()
        self._colours = shows_colours(out)
        self._every_s = DRAWN_EVERY_S if self._in_place else WRITTEN_EVERY_S
        self._rows = 0
        self._shown = 0
        self._started_at = self._drawn_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._in_place and self._rows:
            print(file=self._out, flush=True)

    def show(self, line: str, pixels: Pixels | None = None) -> None:
        """Something has come; `pixels`: its picture."""
        self._shown += 1
        now = time.monotonic()
        if self._rows and now - self._drawn_at < self._every_s:
            return
        rate = f"; {self._shown / max(now - self._started_at, 0.1):.1f} a second"
        picture = in_terminal(pixels, COLUMNS) if self._colours and pixels is not None else []
        widest = (
            shutil.get_terminal_size().columns - 1 if self._in_place else None
        )  # a row more would not be cleared
        self._draw([*picture, (line + rate)[:widest]])
        self._drawn_at = now

    def _draw(self, rows: list[str]) -> None:
        """Over what was drawn before (ECMA-48: CUU, EL)."""
        if not self._in_place:
            print(rows[-1], file=self._out, flush=True)
        else:
            up = f"\x1b[{self._rows - 1}A" if self._rows > 1 else ""
            self._out.write("\r" + up + "\n".join(f"\x1b[2K{row}" for row in rows))
            self._out.flush()
        self._rows = len(rows)
