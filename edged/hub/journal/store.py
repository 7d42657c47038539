"""The journal's file: reopened after a failure, and replaced if it is damaged."""

import contextlib
import logging
import math
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from edged.clock import wall_s
from edged.config import JournalConfig as Settings
from edged.errors import ConfigError
from edged.hub.events import HubEvent
from edged.hub.journal.file import JournalFile, fold_at
from edged.hub.journal.placement import bytes_aside, set_aside
from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import (
    MAX_SEQ,
    MEGABYTE,
    Damaged,
    NewerLayout,
    Reason,
    Row,
    is_damage,
    reason_of,
    size_of,
    wal_of,
)

RETRY_S = 1.0  # seconds between two attempts to use a disk that fails
LOOK_S = 0.5  # seconds between two checks whether the files still exist
EARLIEST_S = 1_767_225_600.0  # start of 2026: a wall clock before it was not set

T = TypeVar("T")

log = logging.getLogger("edged.hub")


class JournalStore:
    """Reports failures by `reason` and `error`, and raises nothing.

    They are of the last attempt; None: it succeeded. `notices`: events of the file.
    `private`: only this user may read it.
    """

    def __init__(self, path: Path, settings: Settings, *, private: bool = False) -> None:
        self.reason: Reason | None = None
        self.error = ""
        self.notices: deque[HubEvent] = deque()
        self._path = path
        self._settings = settings
        self._private = private
        self._file: JournalFile | None = None
        self._retry_at = self._look_at = 0.0
        self._beyond = -1  # the newest number that a damaged file may have contained

    def open(self) -> int:
        """Open the file, and return the number of the next prediction.

        Raises ConfigError if the file is in use or of a newer edged, or the path is wrong.
        """
        try:
            self._file = self._open()
            return _after(self._file.last)
        except NewerLayout as error:
            raise ConfigError(f"journal {self._path} cannot be used: {error}") from None
        except (OSError, sqlite3.Error) as error:
            self._failed(error)
        if not self.notices:
            with contextlib.suppress(sqlite3.Error, OSError):
                return _after(JournalReader(self._path).kept()[1])
        return max(number_of_now(), self._beyond + 1)

    def set_limits(self, settings: Settings) -> None:
        """Apply these limits. Thread-safe."""
        self._settings = settings
        if file := self._file:
            file.settings = settings

    def look(self) -> None:
        """Start a new file if the journal's files were removed or replaced."""
        if self._file is None or time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + LOOK_S
        self._attempt(self._compare)

    def add(self, rows: Sequence[Row]) -> None:
        """Commit all of them, or none: see `reason`."""
        self._attempt(lambda file: file.add(rows))

    def withdraw(self, numbers: Sequence[int]) -> None:
        """Empty these rows."""
        self._attempt(lambda file: file.withdraw(numbers))

    def trim(self) -> bool:
        """Trim in a small step; return whether there is more to do."""
        return bool(self._attempt(JournalFile.trim))

    def fold_in(self) -> None:
        """Checkpoint the rest of the WAL."""
        self._attempt(JournalFile.fold_in)

    def bytes(self) -> int:
        """Return the size of the file and its WAL."""
        return size_of(self._path) + size_of(wal_of(self._path))

    def bytes_aside(self) -> int:
        """Return the size of quarantined files."""
        with contextlib.suppress(OSError):
            return bytes_aside(self._path)
        return 0

    def disk_free(self) -> float:
        """Return the free bytes on its disk; NaN if unknown."""
        try:
            disk = os.statvfs(self._path.parent)
        except OSError:
            return math.nan
        return disk.f_bavail * disk.f_frsize

    def has_grown(self) -> bool:
        """Return whether the WAL is due for a checkpoint."""
        return size_of(wal_of(self._path)) > fold_at(self._settings)

    def give_up(self, inode: int) -> None:
        """Quarantine the file, if it is still the one that a reader found damaged."""

        def compare(file: JournalFile) -> None:
            if file.inode == inode:
                raise Damaged("a page of it cannot be read")

        self._attempt(compare)

    def close(self) -> None:
        """Close the file and release the lock."""
        if self._file:
            self._file.close()
        self._file = None

    def _attempt(self, do: Callable[[JournalFile], T]) -> T | None:
        """Run an operation, and again on a new file if the old one proves damaged."""
        for _ in range(2):
            if self._file is None and time.monotonic() < self._retry_at:
                return None
            try:
                self._file = self._file or self._open()
                done = do(self._file)
            except (OSError, sqlite3.Error, ConfigError) as error:
                self._failed(error)
            else:
                self.reason = None
                return done
        return None

    def _open(self) -> JournalFile:
        return JournalFile(self._path, self._settings, private=self._private)

    def _compare(self, file: JournalFile) -> None:
        """Compare the files with those that were opened: a removed file would be written without effect."""
        missing = file.missing()
        if not missing:
            return
        if self._path in missing:
            self.notices.append(_removed(self._path, file.span()))
            file.abandon()
        else:
            file.fold_in_all()  # closing does it too, unless a reader has the file open
            file.close()
            log.warning("%s was removed while edged runs; nothing is lost of the journal", missing[0])
        self._file = None
        self._file = self._open()

    def _failed(self, error: Exception) -> None:
        self.error, self.reason = str(error), reason_of(error, self._path)
        with contextlib.suppress(sqlite3.Error):
            self.close()
        self._retry_at = 0.0 if is_damage(error) and self._set_aside() else time.monotonic() + RETRY_S

    def _set_aside(self) -> bool:
        why, self._beyond = self.error, max(self._beyond, newest_perhaps(self._path))
        try:
            aside = set_aside(self._path)
            total = bytes_aside(self._path)
        except OSError as error:
            self.error, self.reason = str(error), reason_of(error, self._path)
            return False
        message = (
            f"the journal was damaged ({why}): it is now {aside}, and a new one begins; edged deletes no file "
            f"that it has set aside, and these take {total / MEGABYTE:.1f} MB now"
        )
        self.notices.append(HubEvent("journal_quarantined", message))
        return True


def number_of_now() -> int:
    """Return a number beyond all earlier ones, if the last one is unknown: milliseconds since 1970."""
    return min(MAX_SEQ // 2, round(max(wall_s(), EARLIEST_S) * 1000))


def newest_perhaps(path: Path) -> int:
    """Return the newest number in a damaged file, as far as it can be read; else -1."""
    with contextlib.suppress(sqlite3.Error, OSError):
        return JournalReader(path).newest_below(MAX_SEQ // 2)
    return -1


def _removed(path: Path, span: tuple[int, int] | None) -> HubEvent:
    how = "replaced by another file" if path.exists() else "removed"
    lost = "it was empty"
    if span:
        lost = f"predictions {span[0]} to {span[1]}, which it held, cannot be fetched any more"
    return HubEvent("journal_removed", f"the journal {path} was {how} while edged runs: {lost}; a new one begins")


def _after(last: int | None) -> int:
    return 0 if last is None else last + 1
