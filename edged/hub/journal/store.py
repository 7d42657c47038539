"""The journal's file, opened again where it fails and replaced where it is damaged."""

import contextlib
import math
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from edged.clock import wall_s
from edged.config import Journal as Settings
from edged.errors import ConfigError
from edged.hub.journal.failure import Damaged, Reason, is_damage, reason_of
from edged.hub.journal.file import JournalFile, fold_at
from edged.hub.journal.layout import Row, set_aside, size_of, wal_of
from edged.hub.journal.reader import JournalReader

RETRY_S = 1.0  # between two attempts to use a disk that fails

T = TypeVar("T")


class JournalStore:
    """Says why, in place of raising.

    `reason` and `error` tell why the last attempt failed (None: it did not); `aside`: damaged files, as renamed.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.reason: Reason | None = None
        self.error = ""
        self.aside: deque[Path] = deque()
        self._path = path
        self._settings = settings
        self._file: JournalFile | None = None
        self._retry_at = 0.0

    def open(self) -> int:
        """The number of the next prediction. Raises ConfigError where the file is in use, or the path is wrong."""
        try:
            self._file = JournalFile(self._path, self._settings)
            return _after(self._file.last)
        except (OSError, sqlite3.Error) as error:
            self._failed(error)
        if not self.aside:
            with contextlib.suppress(sqlite3.Error, OSError):
                return _after(JournalReader(self._path).kept()[1])
        # What was published before cannot be known: milliseconds since 1970 are more than any number so far.
        return round(wall_s() * 1000)

    def set_limits(self, settings: Settings) -> None:
        """From now on. For any thread."""
        self._settings = settings
        if file := self._file:
            file.settings = settings

    def add(self, rows: Sequence[Row]) -> None:
        """Commit all of them, or none: see `reason`."""
        self._attempt(lambda file: file.add(rows))

    def trim(self) -> bool:
        """A small step towards the limits; whether there is more to do."""
        return bool(self._attempt(JournalFile.trim))

    def fold_in(self) -> None:
        """Fold what is left of the WAL into the file."""
        self._attempt(JournalFile.fold_in)

    def bytes(self) -> int:
        """What the file and its WAL take."""
        return size_of(self._path) + size_of(wal_of(self._path))

    def disk_free(self) -> float:
        """Bytes that are left to us on its disk; NaN where the disk does not say."""
        try:
            disk = os.statvfs(self._path.parent)
        except OSError:
            return math.nan
        return disk.f_bavail * disk.f_frsize

    def has_grown(self) -> bool:
        """Whether the WAL is to be folded into the file."""
        return size_of(wal_of(self._path)) > fold_at(self._settings)

    def give_up(self, inode: int) -> None:
        """Set the file aside, if it is still the one that somebody has found damaged."""

        def compare(file: JournalFile) -> None:
            if file.inode == inode:
                raise Damaged("a page of it cannot be read")

        self._attempt(compare)

    def close(self) -> None:
        """Let the next daemon in."""
        if self._file:
            self._file.close()
        self._file = None

    def _attempt(self, do: Callable[[JournalFile], T]) -> T | None:
        """Once more with a new file where the old one turns out to be damaged."""
        for _ in range(2):
            if self._file is None and time.monotonic() < self._retry_at:
                return None
            try:
                self._file = self._file or JournalFile(self._path, self._settings)
                done = do(self._file)
            except (OSError, sqlite3.Error, ConfigError) as error:
                self._failed(error)
            else:
                self.reason = None
                return done
        return None

    def _failed(self, error: Exception) -> None:
        self.error, self.reason = str(error), reason_of(error, self._path)
        with contextlib.suppress(sqlite3.Error):
            self.close()
        self._retry_at = 0.0 if is_damage(error) and self._set_aside() else time.monotonic() + RETRY_S

    def _set_aside(self) -> bool:
        try:
            self.aside.append(set_aside(self._path))
        except OSError as error:
            self.error, self.reason = str(error), reason_of(error, self._path)
            return False
        return True


def _after(last: int | None) -> int:
    return 0 if last is None else last + 1
