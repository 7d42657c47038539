"""The thread that writes the journal, and syncs it to the disk every few seconds so that commits need not."""

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
    """Commits in order what one other thread hands over.

    `next_seq`, or `mistake` where the journal can never be used, once it `is_open` (or was tried in vain). It sets
    `grown` where the WAL is to be folded in. `bytes`, `bytes_aside`, `disk_free`: what the journal took, damaged
    files of it, and what was left of its disk, when it was trimmed last.
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
        # Two bare locks, each released by one side and taken by the other, are the quickest way to and fro.
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
        """None once the rows are in the file, or why they are not: `stalled` where they may still get there.

        While earlier ones are not through, nobody waits for later ones; as many are kept as fit the queue.
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
        """Have the rest of the WAL folded into the file."""
        self._fold = True

    def withdraw(self, seq: int) -> None:
        """Have this prediction removed, once it is in the file."""
        self._withdrawn.append(seq)
        self._call()

    def suspect(self, inode: int) -> None:
        """Have the file with this inode set aside: it is damaged."""
        self._suspect = inode

    def stop(self, within_s: float) -> None:
        """Write what was handed over, and close; a disk that is stuck is not waited for longer than this."""
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
        """The first ones; while the disk fails they wait, unless nobody waits for us any more."""
        self._store.withdraw([self._withdrawn[place] for place in range(count)])
        if self._store.reason is None or self._stopping:
            for _ in range(count):
                self._withdrawn.popleft()

    def _tidy(self, added: int) -> bool:
        """What is due beside the commits, in small steps; whether there is more of it."""
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
