"""Journals that hold what edged never writes: used, or set aside once, never a crash at each start."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import MAX_JSON, checksum
from tests.hub.journals import a_journal, fill, numbers

LARGEST = (1 << 63) - 1


def row_numbered(seq: int) -> str:
    """The statement that writes a prediction whose checksum is right."""
    return f"INSERT INTO predictions VALUES ({seq}, 1, x'7b7d', checksum({seq}, x'7b7d'))"  # noqa: S608


PLAIN = "(seq INTEGER PRIMARY KEY, at REAL NOT NULL, json BLOB NOT NULL, crc INTEGER)"

ABSURD = {
    "largest number": row_numbered(LARGEST),
    "number beyond JSON's": row_numbered((1 << 53) + 1),
    "negative number": row_numbered(-5),
    "smallest number": row_numbered(-LARGEST - 1),
    "newest is text": "INSERT INTO predictions VALUES (100, 1, 'text', 1)",
    "newest has no checksum": "INSERT INTO predictions VALUES (100, 1, x'7b7d', NULL)",
    "newest is huge": f"INSERT INTO predictions SELECT 100, 1, zeroblob({MAX_JSON + 1}), 1",
    "trigger": "CREATE TRIGGER evil AFTER INSERT ON predictions BEGIN DELETE FROM predictions; END",
    "view": "CREATE VIEW evil AS SELECT 1",
    "another table": "CREATE TABLE evil (x)",
    "another index": "CREATE UNIQUE INDEX evil ON predictions (crc)",
    "another column": "ALTER TABLE predictions ADD COLUMN evil",
    "a check": f"DROP TABLE predictions; CREATE TABLE predictions {PLAIN[:-1]}, CHECK (seq < 5))",
    "a view in its place": (
        "DROP TABLE predictions; CREATE VIEW predictions AS WITH RECURSIVE n(seq) AS "
        "(SELECT 1 UNION ALL SELECT seq + 1 FROM n) SELECT seq, 1 at, x'7b7d' json, 1 crc FROM n"
    ),
    "no table": "DROP TABLE predictions; CREATE VIEW predictions AS SELECT 1",
    "layout -1": "PRAGMA user_version = -1",
    "layout of a million": "PRAGMA user_version = 1000000",
}  # fmt: skip
HARMLESS = {
    "no index": "DROP INDEX predictions_at",
    "no ages": "DROP TABLE ages",
    "ages that make no sense": "UPDATE ages SET seq = -1, boot = x'ff', seconds = 1e300",
    "times that make no sense": "UPDATE predictions SET at = CASE seq % 2 WHEN 0 THEN 9e300 ELSE 'x' END",
    "an older one is text": "UPDATE predictions SET json = CAST(x'ff' AS TEXT), crc = 'x' WHERE seq = 2",
    "an older one is huge": f"UPDATE predictions SET json = zeroblob({MAX_JSON + 1}) WHERE seq = 2",  # noqa: S608
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite"
    with a_journal(path) as journal:
        fill(journal, 10)
    return path


def plant(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.create_function("checksum", 2, checksum, deterministic=True)
        database.executescript(script)


@pytest.mark.parametrize("script", ABSURD.values(), ids=ABSURD)
def test_a_file_with_something_absurd_is_set_aside_once(path: Path, script: str) -> None:
    plant(path, script)
    with a_journal(path) as journal:
        assert [each.event for each in journal.notices()] == ["journal_quarantined"]
        assert time.time() * 1000 - 60_000 < journal.next_seq < time.time() * 1000 + 60_000
        fill(journal, 3)
        after = journal.next_seq
    with a_journal(path) as journal:
        assert list(journal.notices()) == []
        assert journal.next_seq == after
        fill(journal, 3)
    assert numbers(path) == list(range(after - 3, after + 3))


@pytest.mark.parametrize("script", HARMLESS.values(), ids=HARMLESS)
def test_a_file_with_something_that_does_no_harm_is_used(path: Path, script: str) -> None:
    plant(path, script)
    with a_journal(path) as journal:
        fill(journal, 200)
        assert list(journal.notices()) == []
        assert journal.next_seq == 210
    page = JournalReader(path).page(0, None, 0.0, limit=1000)
    assert page.predictions[-200:] == tuple(b'{"seq":%d}' % seq for seq in range(10, 210))
    assert page.damaged == ("seq = 2" in script)


def test_numbers_after_a_planted_row_are_above_the_published_ones_by_a_wrong_clock_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = 5_000_000_000_000  # by a clock that was far ahead when a journal was set aside before
    plant(path, f"UPDATE predictions SET seq = seq + {published}")  # noqa: S608
    plant(path, ABSURD["largest number"])
    monkeypatch.setattr(time, "time", lambda: 100.0)
    with a_journal(path) as journal:
        assert journal.next_seq == published + 10


@pytest.mark.parametrize(("place", "value"), [(28, 1 << 30), (36, 1 << 30), (28, (1 << 32) - 1)])
def test_a_header_that_speaks_of_more_pages_than_there_are_loses_nothing_of_the_file(
    path: Path, place: int, value: int
) -> None:
    content = bytearray(path.read_bytes())
    content[place : place + 4] = value.to_bytes(4, "big")
    path.write_bytes(content)
    with a_journal(path) as journal:
        fill(journal, 200)
        asides = [each for each in journal.notices() if each.event == "journal_quarantined"]
    if asides:
        (aside,) = path.parent.glob("*.damaged-*[0-9]")
        assert aside.read_bytes() == content
    else:
        assert numbers(path) == list(range(210))
