"""The thread that writes the journal. Another one syncs it every few seconds, so that commits need not."""

import contextlib
import logging
import math
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from edged.config import JournalConfig as Settings
from edged.errors import ConfigError
from edged.hub.journal.file import fold_at
from edged.hub.journal.schema import Reason, Row, wal_of
from edged.hub.journal.store import JournalStore
from edged.hub.service_threads import ServiceThreads

TRIM_EVERY = 64  # commits
IDLE_S = 1.0
QUEUED = 1000  # predictions that may wait for a disk that is stuck


class JournalWriter:
    """Commits predictions in order for one other thread.

    `next_seq`, or `mistake` if the journal can never be used, are set once it `is_open` (or failed to open). It
    sets `grown` when the WAL is due for a checkpoint. `bytes`, `bytes_aside`, `disk_free`: size of the journal, of
    quarantined files, and free space, at the last trimming.
    """

    def __init__(self, store: JournalStore, grown: threading.Event, services: ServiceThreads) -> None:
        self.next_seq: int | None = None
        self.mistake: ConfigError | None = None
        self.is_open = threading.Event()
        self.bytes = self.bytes_aside = 0
        self.disk_free = math.nan
        self._store = store
        self._grown = grown
        self._queue: deque[Row] = deque()
        # Two bare locks, each released by one side and acquired by the other, are the fastest handover.
        self._wake, self._done = threading.Lock(), threading.Lock()
        self._wake.acquire()
        self._done.acquire()
        self._handed = self._handled = -1
        self._outcome: Reason | None = None
        self._untrimmed = 0
        self._fold = self._stopping = False
        self._suspect: int | None = None
        self._withdrawn: deque[int] = deque()
        self._thread = services.start("journal", self._run)

    def write(self, rows: Sequence[Row], within_s: float) -> Reason | None:
        """Return None once the rows are in the file, or why they are not: `stalled` if they may still get there.

        While earlier ones are unfinished, nobody waits for later ones; as many are kept as fit the queue.
        """
        late = self._handed != self._handled
        if late and len(self._queue) >= QUEUED:
            return "stalled"
        self._handed = rows[-1].seq
        self._queue.extend(rows)
        self._call()
        if late or not self._is_through(self._handed, time.monotonic() + within_s):
            return "stalled"
        return self._outcome

    def fold_in(self) -> None:
        """Request a checkpoint of the rest of the WAL."""
        self._fold = True

    def withdraw(self, seq: int) -> None:
        """Request that this prediction be removed once it is in the file."""
        self._withdrawn.append(seq)
        self._call()

    def suspect(self, inode: int) -> None:
        """Request that the file with this inode be quarantined: it is damaged."""
        self._suspect = inode

    def stop(self, within_s: float) -> None:
        """Write what is queued, and close; do not wait longer than this for a disk that is stuck."""
        self._stopping = True
        self._call()
        self._thread.join(within_s)

    def _is_through(self, seq: int, until: float) -> bool:
        while self._handled != seq:
            if not self._done.acquire(timeout=max(0.0, until - time.monotonic())):
                return self._handled == seq
        return True

    def _call(self) -> None:
        if self._wake.locked():
            self._wake.release()

    def _run(self) -> None:
        if not self.is_open.is_set():
            self._open()
        more = False
        while not self.mistake and not (self._stopping and not self._queue and not self._withdrawn):
            self._wake.acquire(timeout=0 if more else IDLE_S)
            withdrawn = len(self._withdrawn)  # each was queued before it was withdrawn
            rows = [self._queue.popleft() for _ in range(len(self._queue))]
            if rows:
                self._commit(rows)
            if withdrawn:
                self._withdraw(withdrawn)
            more = self._tidy(len(rows))
        self._store.close()

    def _open(self) -> None:
        try:
            self.next_seq = self._store.open()
        except ConfigError as error:
            self.mistake = error
        self.is_open.set()

    def _commit(self, rows: list[Row]) -> None:
        self._store.add(rows)
        self._outcome = self._store.reason
        self._handled = rows[-1].seq
        if self._done.locked():
            self._done.release()

    def _withdraw(self, count: int) -> None:
        """Withdraw the first ones; while the disk fails they stay queued, unless the hub is stopping."""
        self._store.withdraw([self._withdrawn[index] for index in range(count)])
        if self._store.reason is None or self._stopping:
            for _ in range(count):
                self._withdrawn.popleft()

    def _tidy(self, added: int) -> bool:
        """Do what is due besides commits, in small steps; return whether there is more."""
        self._store.look()
        if self._suspect is not None:
            inode, self._suspect = self._suspect, None
            self._store.give_up(inode)
        if self._fold:
            self._fold = False
            self._store.fold_in()
        self._untrimmed += added
        if added and self._untrimmed < TRIM_EVERY:
            return False
        self._untrimmed = 0
        if self._store.has_grown():
            self._grown.set()
        more = self._store.trim()
        self.bytes, self.bytes_aside = self._store.bytes(), self._store.bytes_aside()
        self.disk_free = self._store.disk_free()
        return more


log = logging.getLogger("edged.hub")


class JournalSync:
    """A thread that syncs commits to disk: a power failure loses only those after its last turn.

    It syncs the WAL alone, from which SQLite can recover everything, and checkpoints it once it has grown, which
    `grown` signals. Commits during a checkpoint leave it incomplete, so that SQLite cannot restart the WAL:
    `finish` makes the writer checkpoint that small rest, between two commits. `settings` may be replaced; `sync_s`
    counts from the next turn on.
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
        """Stop syncing; do not wait longer than this for a disk that is stuck."""
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
        """Sync, and return the bytes of the WAL that are on disk now. Raises OSError."""
        try:
            file = os.open(wal_of(self._path), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # no commit is running
            return 0
        try:
            os.fdatasync(file)
            return os.fstat(file).st_size
        finally:
            os.close(file)  # SQLite's locks are on other files: closing this one releases none of them

    def _fold(self) -> None:
        name = f"{self._path.absolute().as_uri()}?mode=rw"  # a quarantined file must not be created again here
        with contextlib.closing(sqlite3.connect(name, uri=True, isolation_level=None, timeout=0)) as database:
            _, frames, folded = database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if folded < frames:
            self._finish()
