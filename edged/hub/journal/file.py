"""The file of the journal, its limits, and the lock of its one writer. Any call may wait for the disk."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Sequence
from errno import ENOSPC
from pathlib import Path

from edged.clock import now_ns, seconds_since
from edged.config import JournalConfig as Settings
from edged.errors import ConfigError
from edged.hub.journal.age import Ages
from edged.hub.journal.placement import PRIVATE, READABLE_BY_GROUP, create_file, create_folder, inodes
from edged.hub.journal.schema import (
    BUSY_S,
    MEGABYTE,
    Damaged,
    Row,
    beneath,
    checksum,
    is_mistake,
    newest,
    open_database,
    refuse_newer_file,
    size_of,
    transaction,
    wal_of,
)
from edged.system.exclusive_lock import try_lock


def lock(path: Path, mode: int) -> int:
    """Take an exclusive lock, held until it is closed.

    Raises ConfigError, or OSError for a disk that fails. A missing folder is created for those who may read files
    of this mode.
    """
    try:
        create_folder(path.parent, mode)
        held = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.fchmod(held, 0o600)
    except OSError as error:
        if not is_mistake(error):
            raise
        raise _wrong(path, error) from None
    if not try_lock(held):
        os.close(held)
        raise ConfigError(
            f"journal {path} is in use by another edged: stop that one, or give this one another node or path"
        )
    return held


def mistake_or_failure(error: OSError | sqlite3.Error, path: Path) -> Exception:
    """Return the error for a failed access: a mistake in the config, or a disk that fails."""
    system = beneath(error, path) if isinstance(error, sqlite3.Error) else error
    return _wrong(path, system) if isinstance(system, OSError) and is_mistake(system) else system


def _wrong(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"journal.path {path} cannot be written: {error.strerror}; choose another path")


STEP = 128  # predictions removed by one step of trimming at most
DAY_S = 86_400
LOOK_S = 0.002  # seconds between two checks whether the WAL can be checkpointed

_INSERT = "INSERT INTO predictions (seq, at, json, crc) VALUES (?, ?, ?, ?)"
_EMPTY = "UPDATE predictions SET json = x'', crc = ? WHERE seq = ?"
_DELETE = "DELETE FROM predictions WHERE seq IN (SELECT seq FROM predictions ORDER BY seq LIMIT ?)"


class JournalFile:
    """A SQLite file in WAL mode that this process alone writes, while others may read it.

    A commit survives a crash of the process at once, and a power failure after the next sync (`journal_sync`).
    `settings` may be replaced from another thread.
    """

    def __init__(self, path: Path, settings: Settings, *, private: bool = False) -> None:
        """Raises ConfigError if another daemon uses the file, OSError, sqlite3.Error.

        `private`: only this user may read its files; else the group may too.
        """
        self.path = path
        self.settings = settings
        self._wal = wal_of(path)
        mode = PRIVATE if private else READABLE_BY_GROUP
        with contextlib.ExitStack() as on_error:
            self._lock = lock(path, mode)
            on_error.callback(os.close, self._lock)
            try:
                refuse_newer_file(path)
                create_file(path, mode)
                self._database = open_database(path)
            except (OSError, sqlite3.OperationalError) as error:
                raise mistake_or_failure(error, path) from None
            on_error.callback(self._database.close)
            self._database.execute(f"PRAGMA journal_size_limit = {fold_at(settings)}")
            self._page = self._ask("PRAGMA page_size")
            self._count = self._ask("SELECT count(*) FROM predictions")
            self.last = newest(self._database)
            self._ages = Ages(self._database)
            self._ages.mark(self.last, self._limit_s)
            self._inodes = inodes(path)
            self.inode = self._inodes[path]
            on_error.pop_all()

    def add(self, rows: Sequence[Row]) -> None:
        """Commit all or none of them. Raises sqlite3.Error, or OSError if the WAL has grown too large."""
        if self.wal_bytes() > self.settings.max_megabytes * MEGABYTE // 4:
            self.fold_in_all()
        if self.last is not None and rows[0].seq <= self.last:
            raise Damaged(f"it holds number {self.last} already")
        with transaction(self._database) if len(rows) > 1 else contextlib.nullcontext():
            for seq, at, json in rows:
                self._database.execute(_INSERT, (seq, at, json, checksum(seq, json)))
        self._count += len(rows)
        self.last = rows[-1].seq

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Empty these rows: the numbers stay taken, and readers leave them out. Raises sqlite3.Error."""
        with transaction(self._database):
            for seq in numbers:
                self._database.execute(_EMPTY, (checksum(seq, b""), seq))

    def trim(self) -> bool:
        """Remove some predictions beyond a limit; return whether there are more. Raises sqlite3.Error."""
        pages, free = self._ask("PRAGMA page_count"), self._ask("PRAGMA freelist_count")
        most = self.settings.max_megabytes * MEGABYTE * 5 // 8 // self._page
        over = STEP if pages - free > most else self._count - self.settings.max_predictions
        self._ages.mark(self.last, self._limit_s)
        leaving = min(STEP, max(0, over, self._too_old()))
        if leaving:
            done = self._database.execute(_DELETE, (leaving,))
            self._count -= done.rowcount
        if pages > most and free:
            self._database.execute(f"PRAGMA incremental_vacuum({STEP})").fetchall()
        return leaving == STEP or self._ask("PRAGMA page_count") < pages

    def fold_in(self) -> bool:
        """Checkpoint the WAL into the file; False if a reader still needs it. Raises sqlite3.Error."""
        busy, frames, folded = self._database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return not busy and frames == folded

    def fold_in_all(self) -> None:
        """Checkpoint the whole WAL. Raises sqlite3.Error, OSError if a reader needs it for BUSY_S."""
        start_ns = now_ns()
        while not self.fold_in():
            if seconds_since(start_ns) > BUSY_S:
                raise OSError(ENOSPC, "a program has read it for so long that its WAL has grown to the limit")
            time.sleep(LOOK_S)

    def wal_bytes(self) -> int:
        """Return the size of the WAL; it restarts with the first commit after a complete checkpoint."""
        return size_of(self._wal)

    def missing(self) -> list[Path]:
        """Return its files that are missing, or that were replaced. Raises OSError."""
        return [name for name, inode in inodes(self.path).items() if inode != self._inodes[name]]

    def span(self) -> tuple[int, int] | None:
        """Return its first and last number, even if the file was removed from its folder. Raises sqlite3.Error."""
        first, last = self._database.execute("SELECT min(seq), max(seq) FROM predictions").fetchone()
        return None if first is None else (first, last)

    def abandon(self) -> None:
        """Close a file that is no longer at its path, and delete its WAL there. Raises sqlite3.Error, OSError."""
        self.fold_in()
        self.close()
        for name, inode in inodes(self.path).items():
            if inode is not None and inode == self._inodes[name]:
                name.unlink(missing_ok=True)

    def close(self) -> None:
        """Checkpoint the WAL, close the file and release the lock."""
        self._database.close()
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def _too_old(self) -> int:
        """Return how many of the oldest are beyond the age limit, at most STEP."""
        question = "SELECT count(*) FROM (SELECT 1 FROM predictions WHERE seq <= ? LIMIT ?)"
        beyond = self._ages.newest_beyond(self._limit_s), STEP
        (count,) = self._database.execute(question, beyond).fetchone()
        return int(count)

    @property
    def _limit_s(self) -> float:
        return self.settings.max_age_days * DAY_S

    def _ask(self, question: str) -> int:
        (answer,) = self._database.execute(question).fetchone()
        return int(answer)


def fold_at(settings: Settings) -> int:
    """Return the size at which a WAL is checkpointed: below its limit, but seldom enough for flash cards."""
    return min(4, settings.max_megabytes // 8) * MEGABYTE
