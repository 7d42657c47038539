"""The journal in files that are damaged, and on a disk that fails."""

import resource
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edged.hub.journal.journal import Journal
from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import Row, is_damage
from tests.eventually import eventually
from tests.hub.journals import a_journal, fill, numbers

PAGE = 4096


@contextmanager
def no_file_may_grow() -> Iterator[None]:
    """The system refuses any further byte of this process (EFBIG), as a disk does that fails."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def events(journal: Journal) -> list[str]:
    return [notice.event for notice in journal.notices()]


def works_again(journal: Journal) -> bool:
    return journal.append([Row(journal.next_seq, time.time(), b'{"seq":%d}' % journal.next_seq)]) is None


def flip(path: Path, offset: int, length: int = 1) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        data = file.read(length)
        file.seek(offset)
        file.write(bytes(byte ^ 0x40 for byte in data))


def test_a_file_that_is_no_journal_is_set_aside_and_numbers_go_up(path: Path) -> None:
    path.write_bytes(b"this is not a database, but somebody may still want it" * 100)
    with a_journal(path) as journal:
        assert events(journal) == ["journal_quarantined"]
        (aside,) = path.parent.glob("*.damaged-*")
        assert aside.read_bytes().startswith(b"this is not")
        assert journal.next_seq > 1_700_000_000_000  # more than any that can have been published before
        fill(journal, 1)
        assert events(journal) == []


def test_a_failing_disk_is_reported_once_and_the_journal_works_again_by_itself(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 3)
        with no_file_may_grow():
            reasons = {journal.append([Row(seq, time.time(), b"{}")]) for seq in range(3, 103)}
            told = [notice for notice in journal.notices() if notice.event == "journal_failed"]
            assert events(journal) == []
        eventually(lambda: works_again(journal))
        (works,) = journal.notices()
    assert reasons == {"failed"}
    assert [notice.reason for notice in told] == ["failed"]
    assert works.event == "journal_recovered"
    assert numbers(path)[:4] == [0, 1, 2, numbers(path)[-1]]


def test_a_prediction_that_is_damaged_is_left_out_and_the_others_are_read(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 10)
    flip(path, path.read_bytes().index(b'{"seq":4}') + 2)
    page = JournalReader(path).page(0, None, None, limit=100)
    assert len(page.predictions) == 9
    assert page.damaged == 1


def test_a_file_whose_newest_prediction_is_damaged_is_not_trusted(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 10)
    flip(path, path.read_bytes().index(b'{"seq":9}') + 2)
    with a_journal(path) as journal:
        assert events(journal) == ["journal_quarantined"]
        assert journal.next_seq > 1_700_000_000_000


def test_a_file_that_is_found_damaged_while_it_runs_is_replaced(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 500, size=500)
    with a_journal(path) as journal:
        flip(path, 0, path.stat().st_size)
        journal.suspect(path.stat().st_ino)
        eventually(lambda: works_again(journal) and "journal_quarantined" in events(journal))
        assert list(path.parent.glob("*.damaged-*"))
        fill(journal, 5)
    assert numbers(path)[-1] == journal.next_seq - 1


def test_a_file_whose_tables_are_not_created_yet_cannot_be_read_but_is_not_damaged(path: Path) -> None:
    path.touch()
    with pytest.raises(sqlite3.Error) as error:
        JournalReader(path).page(0, None, None, limit=100)
    assert not is_damage(error.value)


def test_files_that_were_set_aside_are_all_kept_and_their_bytes_reported(path: Path) -> None:
    content = [bytes([number]) * PAGE for number in range(3)]
    for damaged in content:
        path.write_bytes(damaged)
        with a_journal(path) as journal:
            (notice,) = journal.notices()
    assert sorted(each.read_bytes() for each in path.parent.glob("*.damaged-*")) == content
    assert "these take 0.0 MB now" in notice.message
    with a_journal(path) as journal:
        eventually(lambda: journal.bytes_aside() == 3 * PAGE)


def test_the_wal_is_set_aside_with_its_file(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 100)
        copies = {each.name: each.read_bytes() for each in path.parent.iterdir()}  # as if it had been killed now
    for name, content in copies.items():
        path.with_name(name).write_bytes(content)
    for file in (path, path.with_name("journal.sqlite-wal")):
        flip(file, 0, 100)
    with a_journal(path):
        (aside,) = path.parent.glob("*.damaged-*[0-9]")
    for file in (aside, aside.with_name(f"{aside.name}-wal")):
        flip(file, 0, 100)
    assert numbers(aside) == list(range(100))
