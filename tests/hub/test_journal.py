import shutil
from pathlib import Path

import pytest

from edged.errors import ConfigError
from edged.hub import journal as module
from edged.hub.journal import Journal


def filled(path: Path, predictions: int, most: int = 1000) -> Journal:
    journal = Journal(path, most)
    for seq in range(predictions):
        journal.append(seq, 1000.0 + seq, b'{"seq":%d}' % seq)
    return journal


def test_what_was_kept_is_read_in_order_and_by_pages(tmp_path: Path) -> None:
    journal = filled(tmp_path / "journal.sqlite", 10)
    page = journal.page(3, 8, None, limit=4)
    assert page.predictions == tuple(b'{"seq":%d}' % seq for seq in (3, 4, 5, 6))
    assert page.more
    rest = journal.page(7, 8, None, limit=4)
    assert rest.predictions == (b'{"seq":7}', b'{"seq":8}')
    assert not rest.more
    journal.close()


def test_predictions_since_a_time(tmp_path: Path) -> None:
    journal = filled(tmp_path / "journal.sqlite", 10)
    assert journal.page(0, None, 1007.5, limit=100).predictions == (b'{"seq":8}', b'{"seq":9}')
    assert journal.page(0, None, 2000.0, limit=100).predictions == ()
    journal.close()


def test_an_answer_is_bounded_in_bytes_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite", 1000)
    for seq in range(3):
        journal.append(seq, 0.0, b"x" * (module.PAGE_OF_ANSWER - 1))
    page = journal.page(0, None, None, limit=100)
    assert len(page.predictions) == 2
    assert page.more
    journal.close()


def test_numbers_go_on_after_a_restart(tmp_path: Path) -> None:
    filled(tmp_path / "journal.sqlite", 10).close()
    journal = Journal(tmp_path / "journal.sqlite", 1000)
    assert journal.next_seq == 10
    assert journal.kept() == (0, 9)
    journal.close()


def test_a_committed_prediction_survives_the_death_of_the_process(tmp_path: Path) -> None:
    journal = filled(tmp_path / "journal.sqlite", 3)
    left = tmp_path / "left"
    left.mkdir()
    for file in tmp_path.glob("journal.sqlite*"):  # what the disk holds at this moment
        shutil.copy(file, left)
    journal.close()
    after = Journal(left / "journal.sqlite", 1000)
    assert after.kept() == (0, 2)
    after.close()


def test_the_oldest_go_first(tmp_path: Path) -> None:
    journal = filled(tmp_path / "journal.sqlite", 1000, most=100)
    first, last = journal.kept()
    assert last == 999
    assert first is not None
    assert 999 - 100 - module.TRIM_EVERY <= first <= 999 - 100 + 1
    journal.close()


def test_a_second_daemon_on_the_same_journal_is_refused(tmp_path: Path) -> None:
    journal = filled(tmp_path / "journal.sqlite", 1)
    with pytest.raises(ConfigError, match="in use by another edged"):
        Journal(tmp_path / "journal.sqlite", 1000)
    journal.close()
    Journal(tmp_path / "journal.sqlite", 1000).close()


def test_a_file_that_is_no_journal_is_set_aside_and_numbers_go_up(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"this is not a database, but somebody may still want it" * 100)
    journal = Journal(path, 1000)
    assert journal.set_aside
    assert journal.set_aside.read_bytes().startswith(b"this is not")
    assert journal.next_seq > 1_700_000_000_000  # more than any that can have been published before
    journal.append(journal.next_seq, 0.0, b"{}")
    journal.close()


def test_a_path_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"journal\.path .* cannot be written"):
        Journal(tmp_path / "file" / "journal.sqlite", 1000)
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(ConfigError, match="cannot be used"):
        Journal(tmp_path / "folder.sqlite", 1000)
