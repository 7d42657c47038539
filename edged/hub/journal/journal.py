"""Keep the newest predictions on disk, so that a subscriber can fetch what it missed."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from edged.config import JournalConfig as Settings
from edged.hub.events import HubEvent
from edged.hub.journal.schema import MEGABYTE, Reason, Row
from edged.hub.journal.store import JournalStore, number_of_now
from edged.hub.journal.writer import JournalSync, JournalWriter
from edged.hub.service_threads import ServiceThreads
from edged.system.plain_text import counted

START_S = 5.0  # seconds to wait at the start for a disk that is stuck
STOP_S = 1.0  # and at the end

_IN_WORDS: dict[Reason, str] = {
    "full": "its disk is full",
    "read_only": "its disk is read-only",
    "stalled": "its disk takes too long",
    "failed": "it cannot be written",
}


class Journal:
    """A SQLite file, used by one daemon at a time. No caller waits for its disk longer than `max_wait_s`."""

    def __init__(self, path: Path, settings: Settings, services: ServiceThreads, *, private: bool = False) -> None:
        """Raises ConfigError if another daemon uses the file, a newer one wrote it, or the path is wrong.

        A disk that fails raises nothing: predictions are not stored until it works. `private`: only this user may
        read its files; else the group may too.
        """
        self._path = path
        self._settings = settings
        self._store = JournalStore(path, settings, private=private)
        grown = threading.Event()
        self._writer = JournalWriter(self._store, grown, services)
        self._writer.is_open.wait(START_S)
        if self._writer.mistake:
            raise self._writer.mistake
        next_seq = self._writer.next_seq
        self.next_seq = number_of_now() if next_seq is None else next_seq
        self._sync = JournalSync(path, settings, grown, self._writer.fold_in, services)
        self._failing: Reason | None = None
        self._missed = 0
        self._announced: Reason | None = None
        if not self._writer.is_open.is_set():
            self._failing = "stalled"
        elif self._store.reason and not self._store.notices:
            self._failing = self._store.reason

    def set_limits(self, settings: Settings) -> None:
        """Apply these limits from the next prediction on; the path does not change."""
        self._settings = self._sync.settings = settings
        self._store.set_limits(settings)

    def append(self, rows: Sequence[Row], within_s: float | None = None) -> Reason | None:
        """Commit predictions, all or none. Returns None, or why they are not stored (`stalled`: not yet).

        `within_s`: a shorter limit than the settings', in seconds.
        """
        self.next_seq = rows[-1].seq + 1
        longest_s = self._settings.max_wait_s
        self._failing = self._writer.write(rows, longest_s if within_s is None else min(longest_s, within_s))
        self._missed += len(rows) if self._failing else 0
        return self._failing

    def withdraw(self, seq: int) -> None:
        """Withdraw a prediction: it was not published after all. Its number stays taken."""
        self._writer.withdraw(seq)

    def notices(self) -> Iterator[HubEvent]:
        """Return the journal's events since the last call."""
        while self._store.notices:
            yield self._store.notices.popleft()
        if self._failing and not self._announced:
            detail = "" if self._failing == "stalled" else f" ({self._store.error})"
            yield HubEvent(
                "journal_failed",
                f"journal {self._path}: {_IN_WORDS[self._failing]}{detail}; predictions continue; those "
                "not stored are marked `journaled: false`",
                reason=self._failing,
            )
        elif self._announced and not self._failing:
            yield HubEvent(
                "journal_recovered",
                f"journal {self._path} works again; {counted(self._missed, 'prediction')} marked meanwhile",
            )
            self._missed = 0
        self._announced = self._failing

    def suspect(self, inode: int) -> None:
        """Report that a reader has found the file with this inode damaged."""
        self._writer.suspect(inode)

    def bytes(self) -> int:
        """Return the recent size of the file and its WAL."""
        return self._writer.bytes

    def bytes_aside(self) -> int:
        """Return the recent size of quarantined files."""
        return self._writer.bytes_aside

    @property
    def limit_bytes(self) -> int:
        """Return the limit of the file's size."""
        return self._settings.max_megabytes * MEGABYTE

    @property
    def disk_free_bytes(self) -> float:
        """Return the recent free space of their disk; NaN if unknown."""
        return self._writer.disk_free

    def close(self) -> None:
        """Write what is queued, checkpoint the WAL, and release the lock."""
        self._sync.stop(STOP_S)
        self._writer.stop(STOP_S)
