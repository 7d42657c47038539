"""The journal on a disk that works; `test_journal_faults` has one that does not."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from edged.config import JournalConfig as Settings
from edged.errors import ConfigError
from edged.hub.journal.reader import PAGE_OF_ANSWER, JournalReader
from edged.hub.journal.schema import Row, open_database
from edged.hub.journal.writer import TRIM_EVERY
from tests.disks import a_small_disk
from tests.eventually import eventually
from tests.hub.journals import PATIENT_S, a_journal, fill, numbers


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def test_what_was_kept_is_read_in_order_and_by_pages(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 10)
        page = JournalReader(path).page(3, 8, None, limit=4)
        assert page.predictions == tuple(b'{"seq":%d}' % seq for seq in (3, 4, 5, 6))
        assert page.next_seq == 7
        rest = JournalReader(path).page(7, 8, None, limit=4)
        assert rest.predictions == (b'{"seq":7}', b'{"seq":8}')
        assert rest.next_seq is None
        assert (rest.first_kept, rest.last_kept) == (0, 9)


def test_predictions_since_a_time(path: Path) -> None:
    now = time.time()
    with a_journal(path) as journal:
        fill(journal, 10, at=now)
        since = JournalReader(path).page(0, None, now + 7.5, limit=100)
        assert since.predictions == (b'{"seq":8}', b'{"seq":9}')
        assert JournalReader(path).page(0, None, now + 1000, limit=100).predictions == ()


def test_an_answer_is_bounded_in_bytes_too(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 3, size=PAGE_OF_ANSWER - 100)
        page = JournalReader(path).page(0, None, None, limit=100)
        assert len(page.predictions) == 2
        assert page.next_seq == 2


def test_numbers_go_on_after_a_restart(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 10)
    with a_journal(path) as journal:
        assert journal.next_seq == 10
        fill(journal, 1)
    assert numbers(path) == list(range(11))


def test_a_committed_prediction_survives_the_death_of_the_process(path: Path) -> None:
    left = path.parent / "left"
    left.mkdir()
    with a_journal(path) as journal:
        fill(journal, 3)
        for file in path.parent.glob("journal.sqlite*"):  # what the disk holds at this moment
            shutil.copy(file, left)
    with a_journal(left / "journal.sqlite") as after:
        assert after.next_seq == 3
    assert numbers(left / "journal.sqlite") == [0, 1, 2]


def test_the_oldest_go_first(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 2000)
    kept = numbers(path)
    assert kept == list(range(kept[0], 2000))
    assert 1000 <= len(kept) <= 1000 + TRIM_EVERY


def test_limits_may_change_while_it_is_open(path: Path) -> None:
    with a_journal(path, max_predictions=2000) as journal:
        fill(journal, 2000)
        journal.set_limits(Settings(max_wait_s=PATIENT_S, max_predictions=1000))
        eventually(lambda: len(numbers(path)) <= 1000)


@pytest.mark.deep
def test_its_files_stay_within_their_megabytes_and_nothing_is_marked_on_the_way(path: Path) -> None:
    with a_journal(path, max_megabytes=8, max_predictions=1_000_000) as journal:
        largest = 0
        for _ in range(100):
            fill(journal, 100, size=1500)  # 15 MB in all, as quickly as they can
            largest = max(largest, sum(each.stat().st_size for each in path.parent.iterdir()))
        assert largest <= 8 << 20
        kept = numbers(path)
        assert kept == list(range(10_000))[-len(kept) :]
        assert len(kept) > 1000


def write_first_layout(path: Path, seqs: Iterable[int], size: int = 0) -> None:
    """Write a journal of layout 1, with predictions that are padded to `size` bytes."""
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("PRAGMA journal_mode = WAL")
        old.execute("CREATE TABLE predictions (seq INTEGER PRIMARY KEY, at REAL NOT NULL, json BLOB NOT NULL)")
        rows = ((seq, time.time(), b'{"seq":%d}'.ljust(size) % seq) for seq in seqs)
        old.executemany("INSERT INTO predictions VALUES (?, ?, ?)", rows)
        old.execute("PRAGMA user_version = 1")


def test_a_journal_of_the_first_layout_is_brought_up_to_date(path: Path) -> None:
    write_first_layout(path, [6])
    with a_journal(path) as journal:
        assert journal.next_seq == 7
        fill(journal, 1)
    assert numbers(path) == [6, 7]


def test_a_journal_of_the_first_layout_is_brought_up_to_date_as_soon_as_its_disk_has_room(tmp_path: Path) -> None:
    write_first_layout(tmp_path / "first.sqlite", range(600), size=1000)
    found = []
    with a_small_disk(tmp_path / "disk", size="4m") as disk:
        path, ballast = disk / "journal.sqlite", disk / "ballast"
        for free_kb in range(0, 3000, 150):
            for file in disk.iterdir():
                file.unlink()
            shutil.copy(tmp_path / "first.sqlite", path)
            ballast.write_bytes(bytes(max(0, room(disk) - free_kb * 1024)))
            with suppress(sqlite3.OperationalError):
                open_database(path).close()
            ballast.unlink()
            with closing(sqlite3.connect(path)) as journal:
                one = [journal.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "auto_vacuum")]
                assert journal.execute("SELECT count(*) FROM predictions").fetchone() == (600,)
            found.append("whole" if one == [2, 2] else "as it was" if one[0] == 1 else f"in part: {one}")
    assert set(found) == {"as it was", "whole"}
    assert found == sorted(found)


def room(disk: Path) -> int:
    """Return the bytes that are free."""
    status = os.statvfs(disk)
    return status.f_bavail * status.f_frsize


def test_a_second_daemon_on_the_same_journal_is_refused(path: Path) -> None:
    with a_journal(path), pytest.raises(ConfigError, match="in use by another edged"), a_journal(path):
        pass
    with a_journal(path) as journal:
        assert journal.next_seq == 0


def test_a_path_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.sqlite").mkdir()
    for path in (tmp_path / "file" / "journal.sqlite", tmp_path / "folder.sqlite"):
        with pytest.raises(ConfigError, match=r"journal\.path .* cannot be written"), a_journal(path):
            pass


def test_a_prediction_that_is_withdrawn_is_handed_out_to_nobody_and_its_number_stays_taken(path: Path) -> None:
    with a_journal(path) as journal:
        journal.append([Row(0, 0.0, b"{}"), Row(1, 0.0, b"{}"), Row(2, 0.0, b"{}")])
        journal.withdraw(2)
        eventually(lambda: JournalReader(path).page(0, None, None, limit=10).predictions == (b"{}", b"{}"))
        assert JournalReader(path).page(0, None, None, limit=10).damaged == 0
    with a_journal(path) as journal:
        assert journal.next_seq == 3
