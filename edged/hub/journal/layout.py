"""What the file of a journal looks like inside."""

import contextlib
import os
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from edged.clock import wall_s
from edged.hub.journal.failure import Damaged

MEGABYTE = 1 << 20
LAYOUT = 2  # PRAGMA user_version; layout 1 had no checksums and is brought up to this one
BUSY_S = 1.0  # how long to wait for another program that has locked the file

_CREATE = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA cell_size_check = ON;
CREATE TABLE IF NOT EXISTS predictions
    (seq INTEGER PRIMARY KEY, at REAL NOT NULL, json BLOB NOT NULL, crc INTEGER);
CREATE INDEX IF NOT EXISTS predictions_at ON predictions (at);
"""


class Row(NamedTuple):
    """A prediction as it is kept: its number, the wall time of its publication, its JSON."""

    seq: int
    at: float
    json: bytes


def checksum(seq: int, json: bytes) -> int:
    """Of a row: SQLite checks the WAL, but not what lies in the file."""
    return zlib.crc32(json, seq & 0xFFFFFFFF)


def wal_of(path: Path) -> Path:
    """Where SQLite writes first."""
    return path.with_name(path.name + "-wal")


def size_of(path: Path) -> int:
    """In bytes; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def open_database(path: Path) -> sqlite3.Connection:
    """Raises sqlite3.Error."""
    with contextlib.ExitStack() as on_error:
        database = sqlite3.connect(path, isolation_level=None, timeout=BUSY_S, check_same_thread=False)
        on_error.callback(database.close)
        (layout,) = database.execute("PRAGMA user_version").fetchone()
        if layout not in {0, 1, LAYOUT}:
            raise Damaged(f"layout {layout}")
        if layout == 1:
            _bring_up(database)
        database.executescript(_CREATE)
        database.execute(f"PRAGMA user_version = {LAYOUT}")
        on_error.pop_all()
    return database


def _bring_up(database: sqlite3.Connection) -> None:
    """From layout 1, which had no checksums and could not shrink."""
    database.create_function("checksum", 2, checksum, deterministic=True)
    with transaction(database):
        database.execute("ALTER TABLE predictions ADD COLUMN crc INTEGER")
        database.execute("UPDATE predictions SET crc = checksum(seq, json)")
        database.execute(f"PRAGMA user_version = {LAYOUT}")
    database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    database.execute("VACUUM")


def newest(database: sqlite3.Connection) -> int | None:
    """The newest number, from which the next ones go on. Raises Damaged where it cannot be trusted."""
    row = database.execute("SELECT seq, json, crc FROM predictions ORDER BY seq DESC LIMIT 1").fetchone()
    if row is None:
        return None
    seq, json, crc = row
    if not isinstance(json, bytes) or checksum(seq, json) != crc:
        raise Damaged("the newest prediction is not what was written")
    return int(seq)


@contextlib.contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, in place of one that was set aside before; the new name."""
    for older in path.parent.glob(f"{path.name}.damaged-*"):
        older.unlink(missing_ok=True)
    aside = path.with_name(f"{path.name}.damaged-{round(wall_s())}")
    path.rename(aside)
    for rest in ("-wal", "-shm"):
        path.with_name(path.name + rest).unlink(missing_ok=True)
    return aside
