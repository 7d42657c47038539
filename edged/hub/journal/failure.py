"""Why a journal cannot be written, from what SQLite and the system say."""

import errno
import os
import sqlite3
from pathlib import Path
from typing import Literal

Reason = Literal["full", "read_only", "stalled", "failed"]

_DAMAGE = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,  # a table or column is gone
    sqlite3.SQLITE_CONSTRAINT,  # a number that cannot be there yet
    sqlite3.SQLITE_TOOBIG,  # nothing of ours is that large
    sqlite3.SQLITE_MISMATCH,
}
# What passes by itself or when somebody makes room; all else at the start is a wrong path.
_PASSING = {
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOTCONN,
    errno.ETIMEDOUT, errno.ENFILE, errno.EMFILE, errno.ENOMEM,
}  # fmt: skip


class Damaged(sqlite3.DatabaseError):
    """The file is whole for SQLite, but is not what was written."""


class NewerLayout(sqlite3.DatabaseError):
    """The file was written by a newer edged, which alone can use it."""


def is_damage(error: Exception) -> bool:
    """Whether the file is at fault, not the disk."""
    return isinstance(error, Damaged) or (isinstance(error, sqlite3.Error) and _code(error) in _DAMAGE)


def is_mistake(error: OSError) -> bool:
    """Whether the path is wrong, or not for us: nothing that waiting could mend."""
    return error.errno not in _PASSING


def reason_of(error: Exception, path: Path) -> Reason:
    """In one word, for the metric and the event."""
    if isinstance(error, OSError):
        return _of_errno(error.errno)
    code = _code(error) if isinstance(error, sqlite3.Error) else None
    if code == sqlite3.SQLITE_FULL:
        return "full"
    if code == sqlite3.SQLITE_READONLY or _is_read_only(path):
        return "read_only"
    return "failed"


def beneath(error: sqlite3.Error, path: Path) -> Exception:
    """What the system says where SQLite only says that it cannot use a file: an OSError, else `error`."""
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
    """The primary result code; None for what the sqlite3 module itself objects to."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _is_read_only(path: Path) -> bool:
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    except OSError:
        return False
