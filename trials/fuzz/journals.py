"""Journals that somebody has damaged, or has written to: used, or set aside once, and never an exception."""

import logging
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from edged.config import JournalConfig as Settings
from edged.errors import ConfigError
from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import MAX_SEQ, Row, checksum
from edged.hub.journal.store import JournalStore
from trials.fuzz.damage import damaged
from trials.fuzz.trial import Case

SETTINGS = Settings(max_predictions=1000)
ROWS = 60
ODD = (
    *("NULL", "''", "'text'", "x''", "x'ff'", "x'7b7d'", "0", "-1", "1", "-0.0", "1e999", "-1e999"),
    *("9223372036854775807", "-9223372036854775808", "9007199254740993", "2147483648", "zeroblob(5000000)"),
)
STATEMENTS = (
    "UPDATE OR REPLACE {table} SET {column} = {odd} WHERE seq = {seq}",
    "UPDATE OR REPLACE {table} SET {column} = {odd} WHERE seq % 20 = 7",
    "INSERT OR REPLACE INTO predictions VALUES ({odd}, {odd}, {odd}, {odd})",
    "INSERT OR REPLACE INTO predictions VALUES ({seq}, {odd}, x'7b7d', checksum({seq}, x'7b7d'))",
    "INSERT OR REPLACE INTO ages VALUES ({odd}, {odd}, {odd}, {odd})",
    "DELETE FROM {table} WHERE seq > {seq}",
    "DROP TABLE {table}",
    "DROP INDEX predictions_at",
    "ALTER TABLE {table} RENAME COLUMN {column} TO odd",
    "ALTER TABLE {table} ADD COLUMN odd",
    "CREATE TRIGGER odd BEFORE INSERT ON {table} BEGIN DELETE FROM predictions; END",
    "CREATE VIEW odd AS SELECT * FROM {table}",
    "CREATE UNIQUE INDEX odd ON {table} ({column})",
    "PRAGMA user_version = {odd}",
    "PRAGMA application_id = {odd}",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA page_size = 512; PRAGMA journal_mode = DELETE; VACUUM",
    "PRAGMA auto_vacuum = NONE; VACUUM",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET {master} = {odd}",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = {seq} WHERE name = '{table}'",
)
COLUMNS = {"predictions": ("seq", "at", "json", "crc"), "ages": ("age", "seq", "boot", "seconds")}


@contextmanager
def prepared() -> Iterator[Case]:
    """The case, and a folder for its files."""
    logging.getLogger("edged").addHandler(logging.NullHandler())
    with tempfile.TemporaryDirectory(prefix="edged-fuzz-") as folder:
        yield JournalCase(Path(folder))


class JournalCase:
    """A journal of 60 predictions in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "journal.sqlite"
        self._wal = folder / "journal.sqlite-wal"
        store = JournalStore(self._path, SETTINGS)
        _add(store, store.open(), ROWS)
        self._in_wal = self._path.read_bytes(), self._wal.read_bytes()
        store.close()
        self._in_file = self._path.read_bytes(), b""

    def __call__(self, chance: random.Random) -> str:
        for each in self._folder.iterdir():
            each.unlink()
        file, wal = chance.choice([self._in_wal, self._in_file])
        self._path.write_bytes(file)
        self._wal.write_bytes(wal)
        if chance.random() < 0.4:
            for each in chance.choice([(self._path,), (self._wal,), (self._path, self._wal)]):
                each.write_bytes(damaged(each.read_bytes(), chance))
        else:
            self._plant(chance)
        return self._use()

    def _plant(self, chance: random.Random) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as database:
            database.create_function("checksum", 2, checksum, deterministic=True)
            for _ in range(chance.choice((1, 1, 2, 3))):
                table = chance.choice(list(COLUMNS))
                words = {
                    "table": table,
                    "column": chance.choice(COLUMNS[table]),
                    "seq": chance.randrange(2 * ROWS),
                    "master": chance.choice(("type", "name", "tbl_name", "rootpage", "sql")),
                }
                statement = chance.choice(STATEMENTS)
                while "{odd}" in statement:
                    statement = statement.replace("{odd}", chance.choice(ODD), 1)
                with suppress(sqlite3.Error, OverflowError):
                    database.executescript(statement.format(**words))

    def _use(self) -> str:
        """Start twice on it, read it in between."""
        ends = []
        for _ in range(2):
            store = JournalStore(self._path, SETTINGS)
            try:
                seq = store.open()
            except ConfigError as error:
                if "a newer edged wrote it" not in str(error):
                    raise
                return "refused"
            assert 0 <= seq <= MAX_SEQ
            _add(store, seq, 40)
            assert store.reason is None, store.error
            while store.trim():
                pass
            store.fold_in()
            page = JournalReader(self._path).page(seq, None, None, limit=1000)
            assert len(page.predictions) == 40
            assert page.damaged == 0
            JournalReader(self._path).page(0, None, 0.0, limit=1000)
            store.close()
            ends.append(len(store.notices))
        assert ends[1] == 0, "set aside again"
        return "set aside" if ends[0] else "used"


def _add(store: JournalStore, seq: int, count: int) -> None:
    for number in range(seq, seq + count):
        store.add([Row(number, 1.8e9 + number, b'{"seq":%d}' % number)])
