"""The SQLite schema of the journal, and the classification of its errors."""

import contextlib
import errno
import os
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from edged import __version__

Reason = Literal["full", "read_only", "stalled", "failed"]

_DAMAGE = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,  # a table or column is gone
    sqlite3.SQLITE_CONSTRAINT,  # a number that cannot be reached yet
    sqlite3.SQLITE_TOOBIG,  # larger than anything that edged stores
    sqlite3.SQLITE_MISMATCH,
}
# Errors that pass, or that an administrator can solve; others at the start mean a wrong path.
_PASSING = {
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOTCONN,
    errno.ETIMEDOUT, errno.ENFILE, errno.EMFILE, errno.ENOMEM,
}  # fmt: skip


class Damaged(sqlite3.DatabaseError):
    """The file is valid for SQLite, but its content is not what edged wrote."""


class NewerLayout(sqlite3.DatabaseError):
    """The file was written by a newer edged, and only that can use it."""


def is_damage(error: Exception) -> bool:
    """Return whether the file is at fault, not the disk."""
    return isinstance(error, Damaged) or (isinstance(error, sqlite3.Error) and _code(error) in _DAMAGE)


def is_mistake(error: OSError) -> bool:
    """Return whether the path is wrong or not accessible: an error that waiting does not solve."""
    return error.errno not in _PASSING


def reason_of(error: Exception, path: Path) -> Reason:
    """Return the reason in one word, for the metric and the event."""
    if isinstance(error, OSError):
        return _of_errno(error.errno)
    code = _code(error) if isinstance(error, sqlite3.Error) else None
    if code == sqlite3.SQLITE_FULL:
        return "full"
    if code == sqlite3.SQLITE_READONLY or _is_read_only(path):
        return "read_only"
    return "failed"


def beneath(error: sqlite3.Error, path: Path) -> Exception:
    """Return the OSError behind an SQLite error that only reports an unusable file; else `error` itself."""
    if _code(error) not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
        return error
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as system:
        return system
    return error


def _of_errno(number: int | None) -> Reason:
    if number in {errno.ENOSPC, errno.EDQUOT}:
        return "full"
    return "read_only" if number == errno.EROFS else "failed"


def _code(error: sqlite3.Error) -> int | None:
    """Return the primary result code; None for errors of the sqlite3 module itself."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _is_read_only(path: Path) -> bool:
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    except OSError:
        return False


MEGABYTE = 1 << 20
LAYOUT = 2  # PRAGMA user_version; layout 1 had no checksums and is upgraded
NEWEST_LAYOUT = 99  # that a later edged may use; a larger number is damage
BUSY_S = 1.0  # seconds to wait for another program that has locked the file
MAX_SEQ = 1 << 53  # largest number that is published: the limit of JSON readers
MAX_JSON = 4 * MEGABYTE  # bytes of a prediction; none is nearly as large

_MAGIC = b"SQLite format 3\0"
_LAYOUT_AT = slice(60, 64)  # of the header, big-endian (https://sqlite.org/fileformat.html)

_SETTINGS = """
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
"""
_PREDICTIONS = "(seq INTEGER PRIMARY KEY, at REAL NOT NULL, json BLOB NOT NULL, crc INTEGER)"
_AGES = "(age INTEGER PRIMARY KEY, seq INTEGER NOT NULL, boot TEXT NOT NULL, seconds INTEGER NOT NULL)"
_CREATE = f"""
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = 0;
CREATE TABLE IF NOT EXISTS predictions {_PREDICTIONS};
CREATE TABLE IF NOT EXISTS ages {_AGES};
CREATE INDEX IF NOT EXISTS predictions_at ON predictions (at);
"""

# The allowed content of sqlite_master; the first table is layout 1. edged makes no trigger, view or other table.
_SCHEMA = (
    f"CREATE TABLE predictions {_PREDICTIONS.replace(', crc INTEGER', '')}",
    f"CREATE TABLE predictions {_PREDICTIONS}",
    f"CREATE TABLE ages {_AGES}",
    "CREATE INDEX predictions_at ON predictions (at)",
)


class Row(NamedTuple):
    """A stored prediction: its number, the wall time of its publication, its JSON."""

    seq: int
    at: float
    json: bytes


def checksum(seq: int, json: bytes) -> int:
    """Return the checksum of a row: SQLite checks the WAL, but not the file itself."""
    return zlib.crc32(json, seq & 0xFFFFFFFF)


def wal_of(path: Path) -> Path:
    """Return the path of the WAL, to which SQLite writes first."""
    return path.with_name(path.name + "-wal")


def size_of(path: Path) -> int:
    """Return a file's size in bytes; 0 if there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def open_database(path: Path) -> sqlite3.Connection:
    """Open for writing. Raises sqlite3.Error: Damaged for a file that edged did not write, NewerLayout."""
    with contextlib.ExitStack() as on_error:
        database = sqlite3.connect(path, isolation_level=None, timeout=BUSY_S, check_same_thread=False)
        on_error.callback(database.close)
        restrict(database)
        layout = layout_of(database)
        check_schema(database)
        _check_pages(database, path)
        if layout == 1:
            _bring_up(database)
        database.executescript(_CREATE)
        if layout != LAYOUT:
            database.execute(f"PRAGMA user_version = {LAYOUT}")
        _check_numbers(database)
        on_error.pop_all()
    return database


def read_only(path: Path, *options: str) -> sqlite3.Connection:
    """Open for reading only; other programs may write meanwhile. Raises sqlite3.Error."""
    name = "&".join((f"{path.absolute().as_uri()}?mode=ro", *options))
    return sqlite3.connect(name, uri=True, isolation_level=None, timeout=BUSY_S)


def restrict(database: sqlite3.Connection) -> None:
    """Prevent the file from running code, or using more memory than a prediction. Raises sqlite3.Error."""
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * MAX_JSON)
    database.text_factory = bytes
    database.executescript(_SETTINGS)


def refuse_newer_file(path: Path) -> None:
    """Raises NewerLayout, OSError.

    It must be checked before SQLite opens the file and changes it, by a checkpoint at the end.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        header = file.read(100)
    if header.startswith(_MAGIC):
        _refuse_newer(int.from_bytes(header[_LAYOUT_AT], "big"))
    if size_of(wal_of(path)):
        with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(read_only(path)) as database:
            _refuse_newer(database.execute("PRAGMA user_version").fetchone()[0])


def layout_of(database: sqlite3.Connection) -> int:
    """Return the layout; 0 for a new file. Raises Damaged, NewerLayout."""
    (layout,) = database.execute("PRAGMA user_version").fetchone()
    _refuse_newer(layout)
    if layout not in {0, 1, LAYOUT}:
        raise Damaged(f"layout {layout}")
    return int(layout)


def check_schema(database: sqlite3.Connection) -> None:
    """Raises Damaged for a table, index, view or trigger that edged did not make."""
    expected = {_plain(sql) for sql in _SCHEMA}
    for (sql,) in database.execute("SELECT sql FROM sqlite_master"):
        text = sql.decode(errors="replace") if isinstance(sql, bytes) else ""
        if _plain(text) not in expected:
            raise Damaged(f"edged has not made what it holds: {text[:60]!r}")


def newest(database: sqlite3.Connection) -> int | None:
    """Return the newest number, after which new ones continue. Raises Damaged if it cannot be trusted."""
    row = database.execute(
        "SELECT seq, CASE WHEN length(json) <= ? THEN json END, crc FROM predictions ORDER BY seq DESC LIMIT 1",
        (MAX_JSON,),
    ).fetchone()
    if row is None:
        return None
    seq, json, crc = row
    if not isinstance(json, bytes) or checksum(seq, json) != crc:
        raise Damaged("the newest prediction is not what was written")
    return int(seq)


@contextlib.contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run the block in a transaction: all or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _refuse_newer(layout: int) -> None:
    if LAYOUT < layout <= NEWEST_LAYOUT:
        raise NewerLayout(
            f"it has layout {layout}, and edged {__version__} knows those up to {LAYOUT}: a newer edged wrote it; "
            "use that one, or choose another journal.path"
        )


def _bring_up(database: sqlite3.Connection) -> None:
    """Upgrade from layout 1, which had no checksums and could not shrink.

    The number of the layout is last, so that the next start tries all of it again if the disk is full.
    """
    database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    database.execute("VACUUM")
    database.create_function("checksum", 2, checksum, deterministic=True)
    with transaction(database):
        database.execute("ALTER TABLE predictions ADD COLUMN crc INTEGER")
        database.execute("UPDATE predictions SET crc = checksum(seq, json)")
        database.execute(f"PRAGMA user_version = {LAYOUT}")


def _check_pages(database: sqlite3.Connection, path: Path) -> None:
    """Raises Damaged if the header counts more pages than the file has: all predictions would be trimmed."""
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    (free,) = database.execute("PRAGMA freelist_count").fetchone()
    (page,) = database.execute("PRAGMA page_size").fetchone()
    if pages * page > size_of(path) + size_of(wal_of(path)) or free > pages:
        raise Damaged(f"it says that it has {pages} pages, {free} of them free")


def _check_numbers(database: sqlite3.Connection) -> None:
    first, last = database.execute("SELECT min(seq), max(seq) FROM predictions").fetchone()
    if first is not None and not 0 <= first <= last <= MAX_SEQ:
        raise Damaged(f"it has a prediction with the number {first if first < 0 else last}")


def _plain(sql: str) -> str:
    return "".join(sql.split()).lower()
