"""The file of the journal and its limits. Whoever uses it may have to wait for the disk."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Sequence
from errno import ENOSPC
from itertools import takewhile
from pathlib import Path

from edged.clock import now_ns, seconds_since, wall_s
from edged.config import Journal as Settings
from edged.hub.journal.failure import Damaged
from edged.hub.journal.layout import (
    BUSY_S,
    MEGABYTE,
    Row,
    checksum,
    newest,
    open_database,
    size_of,
    transaction,
    wal_of,
)
from edged.hub.journal.lock import lock, told_apart

STEP = 128  # predictions that one turn of trimming removes at most
DAY_S = 86_400
PAGE = 4096  # bytes, SQLite's own choice
LOOK_S = 0.002  # how often to look whether the WAL can be folded in

_INSERT = "INSERT INTO predictions (seq, at, json, crc) VALUES (?, ?, ?, ?)"
_DELETE = "DELETE FROM predictions WHERE seq IN (SELECT seq FROM predictions ORDER BY seq LIMIT ?)"


class JournalFile:
    """A SQLite file in WAL mode that this process alone writes, while others may read it.

    A commit survives the death of the process at once, and a power failure from the next sync on (`journal_sync`).
    `settings` may be replaced from another thread.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        """Raises ConfigError where another daemon has the file, OSError, sqlite3.Error."""
        self.path = path
        self.settings = settings
        self._wal = wal_of(path)
        self._opened_ns = now_ns()
        with contextlib.ExitStack() as on_error:
            self._lock = lock(path)
            on_error.callback(os.close, self._lock)
            try:
                self._database = open_database(path)
            except sqlite3.OperationalError as error:
                raise told_apart(error, path) from None
            on_error.callback(self._database.close)
            self._database.execute(f"PRAGMA journal_size_limit = {fold_at(settings)}")
            self.inode = path.stat().st_ino
            self._count = self._ask("SELECT count(*) FROM predictions")
            self.last = newest(self._database)
            self._known = self.last
            on_error.pop_all()

    def add(self, rows: Sequence[Row]) -> None:
        """Commit all or none of them. Raises sqlite3.Error, or OSError where the WAL has grown too large."""
        if self.wal_bytes() > self.settings.max_megabytes * MEGABYTE // 4:
            self._wait_for_room()
        if self.last is not None and rows[0].seq <= self.last:
            raise Damaged(f"it holds number {self.last} already")
        with transaction(self._database) if len(rows) > 1 else contextlib.nullcontext():
            for seq, at, json in rows:
                self._database.execute(_INSERT, (seq, at, json, checksum(seq, json)))
        self._count += len(rows)
        self.last = rows[-1].seq

    def trim(self) -> bool:
        """Remove some of what is beyond a limit; whether there is more. Raises sqlite3.Error."""
        pages, free = self._ask("PRAGMA page_count"), self._ask("PRAGMA freelist_count")
        most = self.settings.max_megabytes * MEGABYTE * 5 // 8 // PAGE
        over = STEP if pages - free > most else self._count - self.settings.max_predictions
        leaving = min(STEP, max(0, over, self._too_old()))
        if leaving:
            done = self._database.execute(_DELETE, (leaving,))
            self._count -= done.rowcount
        if pages > most and free:
            self._database.execute(f"PRAGMA incremental_vacuum({STEP})").fetchall()
        return leaving == STEP or self._ask("PRAGMA page_count") < pages

    def fold_in(self) -> bool:
        """Fold the WAL into the file; False where somebody still reads it. Raises sqlite3.Error."""
        busy, frames, folded = self._database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return not busy and frames == folded

    def wal_bytes(self) -> int:
        """What the WAL takes; it begins anew with the first commit after all of it was folded in."""
        return size_of(self._wal)

    def close(self) -> None:
        """Fold the WAL into the file, and let the next daemon in."""
        self._database.close()
        os.close(self._lock)

    def _wait_for_room(self) -> None:
        """Until another thread has folded the WAL in, or a reader lets us. Raises OSError after BUSY_S."""
        start_ns = now_ns()
        while not self.fold_in():
            if seconds_since(start_ns) > BUSY_S:
                raise OSError(ENOSPC, "somebody reads it for so long that its WAL has grown to the limit")
            time.sleep(LOOK_S)

    def _too_old(self) -> int:
        """How many of the oldest are beyond the limit of age.

        Those of this run cannot be older than it is, whatever has become of the wall clock since.
        """
        age = self.settings.max_age_days * DAY_S
        last = self._known if seconds_since(self._opened_ns) < age else self.last
        known = -1 if last is None else last
        rows = self._database.execute("SELECT seq, at FROM predictions ORDER BY seq LIMIT ?", (STEP,))
        expired = takewhile(lambda row: row[1] < wall_s() - age and row[0] <= known, rows.fetchall())
        return sum(1 for _ in expired)

    def _ask(self, question: str) -> int:
        (answer,) = self._database.execute(question).fetchone()
        return int(answer)


def fold_at(settings: Settings) -> int:
    """Bytes from which on a WAL is to be folded in: often enough for its limit, seldom enough for a flash card."""
    return min(4, settings.max_megabytes // 8) * MEGABYTE
