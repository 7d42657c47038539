"""Read a journal while a hub writes it, or while none does."""

import contextlib
import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edged.hub.journal.schema import (
    MAX_JSON,
    check_schema,
    checksum,
    layout_of,
    read_only,
    restrict,
    size_of,
    wal_of,
)

PAGE_OF_ANSWER = 1 << 20  # bytes of predictions in one answer
LAST = (1 << 63) - 1

log = logging.getLogger("edged.hub")


@dataclass(frozen=True, slots=True)
class Page:
    """Predictions' JSON, oldest first.

    `next_seq`: where the next page begins, None after the last one. `withdrawn`: numbers of predictions that were
    never published. `damaged`: rows left out. `first_kept` and `last_kept` bound what the file holds.
    """

    predictions: tuple[bytes, ...]
    next_seq: int | None
    withdrawn: int
    damaged: int
    first_kept: int | None
    last_kept: int | None


class JournalReader:
    """Reads a page per short transaction, so that a slow reader never blocks checkpoints of the WAL.

    Opening a connection costs as much as reading a thousand predictions: a caller that reads many pages keeps it,
    until `release`.
    """

    def __init__(self, path: Path, *, keep_connection: bool = False) -> None:
        """`keep_connection`: for use by one thread only, which calls `release` from time to time."""
        self._path = path
        self._keeps = keep_connection
        self._kept: tuple[tuple[int | None, ...], sqlite3.Connection] | None = None  # with the inodes of its files
        self._logged: set[int] = set()

    def page(
        self,
        first_seq: int,
        last_seq: int | None,
        since: float | None,
        limit: int,
        most_bytes: int = PAGE_OF_ANSWER,
    ) -> Page:
        """Return up to `limit` predictions from `first_seq` to `last_seq`, published since `since`.

        `since`: wall time. The page ends with the first prediction that makes it as large as `most_bytes`.

        Raises sqlite3.Error: is_damage tells whether the file is at fault.
        """
        with self._connected() as database, _snapshot(database):
            if since is not None and not _is_since(database, first_seq, since):
                first_seq = max(first_seq, _first_since(database, since))
            rows = database.execute(
                "SELECT seq, CASE WHEN length(json) <= ? THEN json END, crc FROM predictions "
                "WHERE seq BETWEEN ? AND ? ORDER BY seq",
                (MAX_JSON, first_seq, LAST if last_seq is None else last_seq),
            )
            return self._page(rows, limit, most_bytes, *_kept(database))

    def since(self, since: float | None) -> Iterator[bytes]:
        """Yield all predictions published at wall time `since` or later, page by page. Raises sqlite3.Error."""
        first: int | None = 0
        while first is not None:
            page = self.page(first, None, since, LAST)
            yield from page.predictions
            first = page.next_seq

    def release(self) -> None:
        """Close the connection that was kept."""
        kept, self._kept = self._kept, None
        if kept:
            kept[1].close()

    def inode(self) -> int | None:
        """Return the present inode of the file."""
        return inode_of(self._path)

    def kept(self) -> tuple[int | None, int | None]:
        """Return the first and last number in the file. Raises sqlite3.Error."""
        with contextlib.closing(self._connect()) as database:
            return _kept(database)

    def newest_below(self, seq: int) -> int:
        """Return the newest number up to `seq`; -1 if there is none. Raises sqlite3.Error."""
        with contextlib.closing(self._connect()) as database:
            question = "SELECT max(seq) FROM predictions WHERE seq BETWEEN 0 AND ?"
            (newest,) = database.execute(question, (seq,)).fetchone()
        return -1 if newest is None else int(newest)

    def _page(
        self,
        rows: sqlite3.Cursor,
        limit: int,
        most_bytes: int,
        first_kept: int | None,
        last_kept: int | None,
    ) -> Page:
        found: list[bytes] = []
        size = damaged = withdrawn = 0
        next_seq = None
        for seq, json, crc in rows:
            if len(found) == limit or size >= most_bytes:
                next_seq = seq
                break
            if not isinstance(json, bytes) or checksum(seq, json) != crc:
                damaged += 1
                self._tell(seq)
                continue
            if not json:
                withdrawn += 1
                continue
            found.append(json)
            size += len(json)
        return Page(tuple(found), next_seq, withdrawn, damaged, first_kept, last_kept)

    def _tell(self, seq: int) -> None:
        if seq not in self._logged and len(self._logged) < 1000:
            self._logged.add(seq)
            log.warning("journal %s: prediction %d is damaged, and left out", self._path, seq)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection. Raises sqlite3.Error; a connection with an error is closed."""
        if not self._keeps:
            with contextlib.closing(self._connect()) as database:
                yield database
            return
        inodes = inode_of(self._path), inode_of(wal_of(self._path))
        if self._kept is None or self._kept[0] != inodes:
            self.release()
            self._kept = inodes, self._connect()
        try:
            yield self._kept[1]
        except BaseException:
            self.release()
            raise

    def _connect(self) -> sqlite3.Connection:
        """Open a connection. Raises sqlite3.Error, NewerLayout among them."""
        try:
            return _restricted(read_only(self._path))
        except sqlite3.OperationalError:
            if not self._path.is_file() or size_of(wal_of(self._path)):
                raise
            # no writer is there, and we may not even lock
            return _restricted(read_only(self._path, "immutable=1"))


def inode_of(path: Path) -> int | None:
    """Return the inode of a file; None if there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _restricted(database: sqlite3.Connection) -> sqlite3.Connection:
    """Restrict the connection; close it and raise if the file is not a journal that this edged can read."""
    try:
        restrict(database)
        if layout_of(database) == 0 and _is_empty(database):  # no damage: its writer is about to create the tables
            raise sqlite3.OperationalError("it holds no tables yet")
        check_schema(database)
        database.execute("SELECT max(seq) FROM predictions").fetchone()
    except BaseException:
        database.close()
        raise
    return database


def _is_empty(database: sqlite3.Connection) -> bool:
    return database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


@contextlib.contextmanager
def _snapshot(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN")
    try:
        yield
    finally:
        with contextlib.suppress(sqlite3.Error):
            database.execute("COMMIT")


def _kept(database: sqlite3.Connection) -> tuple[int | None, int | None]:
    # for min and max in one SELECT SQLite would scan the table; alone, each is found by the index
    first, last = database.execute(
        "SELECT (SELECT min(seq) FROM predictions), (SELECT max(seq) FROM predictions)"
    ).fetchone()
    return first, last


def _is_since(database: sqlite3.Connection, first_seq: int, since: float) -> bool:
    """Return whether the prediction at `first_seq` was published then or later: it is so on each later page."""
    row = database.execute(
        "SELECT at FROM predictions WHERE seq >= ? ORDER BY seq LIMIT 1", (first_seq,)
    ).fetchone()
    return row is not None and row[0] >= since


def _first_since(database: sqlite3.Connection, since: float) -> int:
    (first,) = database.execute("SELECT min(seq) FROM predictions WHERE at >= ?", (since,)).fetchone()
    return LAST if first is None else first
