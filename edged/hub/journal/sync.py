"""Brings the journal to the disk now and then, so that commits need not."""

import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from edged.config import Journal as Settings
from edged.hub.journal.file import fold_at
from edged.hub.journal.layout import wal_of
from edged.hub.service_threads import ServiceThreads

log = logging.getLogger("edged.hub")


class JournalSync:
    """A thread that makes durable what was committed: a power failure loses what came after its last turn.

    It syncs the WAL alone, which is enough for SQLite to find all of it again, and folds it into the file where it
    has grown, which `grown` tells at once. What is committed during the folding keeps it from being complete, and
    so keeps SQLite from beginning the WAL anew: `finish` asks the writer to fold in that little rest, between two
    commits. `settings` may be replaced; `sync_s` counts from the turn after.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        grown: threading.Event,
        finish: Callable[[], None],
        services: ServiceThreads,
    ) -> None:
        self._path = path
        self.settings = settings
        self._grown = grown
        self._finish = finish
        self._stopping = False
        self._fails = False
        self._thread = services.start("journal_sync", self._run)

    def stop(self, within_s: float) -> None:
        """Sync no more; a disk that is stuck is not waited for longer than this."""
        self._stopping = True
        self._grown.set()
        self._thread.join(within_s)

    def _run(self) -> None:
        while not self._stopping:
            self._grown.wait(self.settings.sync_s)
            self._grown.clear()
            try:
                if self._sync() > fold_at(self.settings):
                    self._fold()
            except (OSError, sqlite3.Error) as error:
                if not self._fails:
                    log.warning("journal %s cannot be synced, a power failure may lose it: %s", self._path, error)
                self._fails = True
            else:
                self._fails = False

    def _sync(self) -> int:
        """Bytes of the WAL, which is on the disk now. Raises OSError."""
        try:
            file = os.open(wal_of(self._path), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # nobody writes just now
            return 0
        try:
            os.fdatasync(file)
            return os.fstat(file).st_size
        finally:
            os.close(file)  # SQLite's locks are on other files: closing this one gives none of them away

    def _fold(self) -> None:
        name = f"{self._path.absolute().as_uri()}?mode=rw"  # a file that was set aside is not ours to create
        with contextlib.closing(sqlite3.connect(name, uri=True, isolation_level=None, timeout=0)) as database:
            _, frames, folded = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if folded < frames:
            self._finish()
