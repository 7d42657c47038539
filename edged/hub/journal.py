"""The newest predictions on disk, so that a subscriber can fetch what it has missed."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edged.clock import wall_s
from edged.errors import ConfigError

TRIM_EVERY = 64
LAYOUT = 1  # PRAGMA user_version; another one is set aside
PAGE_OF_ANSWER = 1 << 20  # bytes of predictions in one answer

# The lock is ours anyhow, and not taking it anew for each commit halves its cost.
_CREATE = """
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS predictions (seq INTEGER PRIMARY KEY, at REAL NOT NULL, json BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS predictions_at ON predictions (at);
"""


@dataclass(frozen=True, slots=True)
class Page:
    """Predictions' JSON, oldest first; `more`: there are others after the last."""

    predictions: tuple[bytes, ...]
    more: bool


class Journal:
    """A SQLite file in WAL mode, used by one daemon at a time.

    With `synchronous = NORMAL` a commit survives the death of the process at once, and a power failure from the
    next checkpoint on; the file is whole in either case.
    """

    def __init__(self, path: Path, most: int) -> None:
        """`most`: predictions kept. Raises ConfigError where another daemon has the file, or nobody can."""
        self.set_aside: Path | None = None
        self._most = most
        self._lock = _lock(path)
        try:
            self._database = _open(path)
            self.next_seq = _after(self.kept()[1])
        except sqlite3.OperationalError as error:
            os.close(self._lock)
            raise ConfigError(f"journal {path} cannot be used: {error}; mend it, or choose another path") from None
        except sqlite3.DatabaseError:
            self.set_aside = _set_aside(path)
            self._database = _open(path)
            # What was published before cannot be known: milliseconds since 1970 are more than any number so far.
            self.next_seq = round(wall_s() * 1000)

    def append(self, seq: int, at: float, json: bytes) -> None:
        """Commit one prediction, published at wall time `at`. Raises sqlite3.Error."""
        self.next_seq = seq + 1
        self._database.execute("INSERT INTO predictions VALUES (?, ?, ?)", (seq, at, json))
        if seq % TRIM_EVERY == 0:
            self._database.execute("DELETE FROM predictions WHERE seq <= ?", (seq - self._most,))

    def kept(self) -> tuple[int | None, int | None]:
        """First and last number in the file."""
        first, last = self._database.execute("SELECT min(seq), max(seq) FROM predictions").fetchone()
        return first, last

    def page(self, first_seq: int, last_seq: int | None, since: float | None, limit: int) -> Page:
        """Up to `limit` predictions from `first_seq` to `last_seq`, published at wall time `since` or later."""
        if since is not None:
            first_seq = max(first_seq, self._first_since(since))
        last = (1 << 63) - 1 if last_seq is None else last_seq
        rows = self._database.execute(
            "SELECT json FROM predictions WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
            (first_seq, last, limit + 1),
        )
        found = tuple(_within(PAGE_OF_ANSWER, (bytes(json) for (json,) in rows)))
        rest = rows.fetchone()
        return Page(found[:limit], more=len(found) > limit or rest is not None)

    def close(self) -> None:
        """Fold the WAL into the file, and let the next daemon in."""
        self._database.close()
        os.close(self._lock)

    def _first_since(self, since: float) -> int:
        (first,) = self._database.execute("SELECT min(seq) FROM predictions WHERE at >= ?", (since,)).fetchone()
        return (1 << 63) - 1 if first is None else first


def _open(path: Path) -> sqlite3.Connection:
    """Raises sqlite3.DatabaseError for a file that is no journal of this layout."""
    with contextlib.ExitStack() as on_error:
        database = sqlite3.connect(path, isolation_level=None, timeout=0.05)
        on_error.callback(database.close)
        (layout,) = database.execute("PRAGMA user_version").fetchone()
        if layout not in {0, LAYOUT}:
            raise sqlite3.DatabaseError(f"layout {layout}")
        database.executescript(_CREATE)
        database.execute(f"PRAGMA user_version = {LAYOUT}")
        on_error.pop_all()
    return database


def _within(most: int, blobs: Iterator[bytes]) -> Iterator[bytes]:
    """Blobs until they are `most` bytes together; at least one."""
    total = 0
    for blob in blobs:
        yield blob
        total += len(blob)
        if total >= most:
            return


def _after(last: int | None) -> int:
    return 0 if last is None else last + 1


def _lock(path: Path) -> int:
    """An exclusive lock that lives as long as this process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigError(
            f"journal.path {path} cannot be written: {error.strerror}; choose another path"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise ConfigError(
            f"journal {path} is in use by another edged: stop that one, or give this one another node or path"
        ) from None
    return lock


def _set_aside(path: Path) -> Path:
    """Rename a file that cannot be used; the new name."""
    aside = path.with_name(f"{path.name}.damaged-{round(wall_s())}")
    path.rename(aside)
    for rest in ("-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    return aside
