"""The journal's files: who may read them, removed while it is open, of a newer edged."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from edged.errors import ConfigError
from edged.hub.journal.journal import Journal
from edged.hub.journal.reader import JournalReader
from edged.hub.journal.schema import LAYOUT
from tests.eventually import eventually
from tests.hub.journals import a_journal, fill, numbers


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture(params=[0, 0o777], ids=["umask 000", "umask 777"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def permissions(folder: Path) -> dict[str, str]:
    return {each.name: oct(stat.S_IMODE(each.stat().st_mode)) for each in folder.rglob("*")}


def next_notice(journal: Journal) -> str:
    return eventually(lambda: [f"{each.event}: {each.message}" for each in journal.notices()])[0]


@pytest.mark.parametrize(("private", "folder", "file"), [(False, "0o750", "0o640"), (True, "0o700", "0o600")])
@pytest.mark.usefixtures("umask")
def test_its_files_are_closed_to_others_whatever_the_umask(
    tmp_path: Path, private: bool, folder: str, file: str
) -> None:
    path = tmp_path / "node" / "journal.sqlite"
    with a_journal(path, private=private) as journal:
        fill(journal, 3)
        JournalReader(path).page(0, None, None, limit=10)
        found = permissions(tmp_path)
    wanted = {"node": folder, "journal.sqlite": file, "journal.sqlite-wal": file, "journal.sqlite-shm": file}
    assert found == {**wanted, "journal.sqlite.lock": "0o600"}


def test_an_older_file_that_all_may_read_is_closed_and_one_that_is_closed_further_stays_so(path: Path) -> None:
    with a_journal(path) as journal:
        fill(journal, 3)
    path.chmod(0o644)
    with a_journal(path):
        assert permissions(path.parent)["journal.sqlite"] == "0o640"
    with a_journal(path, private=True):
        assert permissions(path.parent)["journal.sqlite"] == "0o600"
    with a_journal(path) as journal:
        fill(journal, 1)
        assert permissions(path.parent)["journal.sqlite-wal"] == "0o600"


def test_what_is_set_aside_is_closed_to_others_too(path: Path) -> None:
    path.write_bytes(b"no journal" * 1000)
    path.chmod(0o666)
    with a_journal(path, private=True):
        assert set(permissions(path.parent).values()) == {"0o600"}


def test_edgeds_own_folder_is_closed_and_one_of_another_user_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "edged" / "node").mkdir(parents=True)
    for each in (tmp_path / "edged", tmp_path / "edged" / "node"):
        each.chmod(0o777)
    tmp_path.chmod(0o755)
    with a_journal(tmp_path / "edged" / "node" / "journal.sqlite"):
        assert permissions(tmp_path)["edged"] == permissions(tmp_path)["node"] == "0o750"
    with a_journal(tmp_path / "journal.sqlite"):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def remove_all(path: Path) -> None:
    for each in path.parent.glob("journal.sqlite*"):
        each.unlink()


def move_away(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def put_another_in_its_place(path: Path) -> None:
    other = path.with_name("other")
    with closing(sqlite3.connect(other)) as database:
        database.execute("PRAGMA user_version = 0")
    other.replace(path)


@pytest.mark.deep
@pytest.mark.parametrize("remove", [remove_all, Path.unlink, move_away, put_another_in_its_place])
def test_a_file_that_is_removed_is_announced_with_what_is_lost_and_a_new_one_begins(
    path: Path, remove: Callable[[Path], None]
) -> None:
    with a_journal(path) as journal:
        fill(journal, 20)
        remove(path)
        notice = next_notice(journal)
        assert notice.startswith("journal_removed: ")
        assert "predictions 0 to 19, which it held, cannot be fetched any more" in notice
        fill(journal, 5)
        assert numbers(path) == [20, 21, 22, 23, 24]
        assert list(journal.notices()) == []
    with a_journal(path) as journal:
        assert journal.next_seq == 25


def test_a_folder_that_is_removed_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "node" / "journal.sqlite"
    with a_journal(path) as journal:
        fill(journal, 2)
        shutil.rmtree(path.parent)
        assert "predictions 0 to 1" in next_notice(journal)
        fill(journal, 1)
        assert numbers(path) == [2]


@pytest.mark.parametrize("ending", ["-wal", "-shm", ".lock"])
def test_nothing_is_lost_where_only_a_file_beside_it_is_removed(
    path: Path, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    with a_journal(path) as journal:
        fill(journal, 20)
        path.with_name(path.name + ending).unlink()
        eventually(lambda: "nothing is lost of the journal" in caplog.text)
        eventually(path.with_name(path.name + ending).exists)
        fill(journal, 5)
        assert numbers(path) == list(range(25))
        with pytest.raises(ConfigError, match="in use by another edged"), a_journal(path):
            pass
    assert numbers(path) == list(range(25))


def test_nothing_is_lost_where_the_wal_is_removed_during_a_read(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reader = JournalReader(path, keep_connection=True)
    with a_journal(path) as journal:
        fill(journal, 20)
        assert len(reader.page(0, None, None, 1000).predictions) == 20
        path.with_name(f"{path.name}-wal").unlink()
        eventually(lambda: "nothing is lost of the journal" in caplog.text)
        fill(journal, 5)
        assert numbers(path) == list(range(25))
        assert len(reader.page(0, None, None, 1000).predictions) == 25
    reader.release()
    assert numbers(path) == list(range(25))


@pytest.mark.parametrize("killed", [False, True], ids=["in the file", "in the WAL"])
def test_a_journal_of_a_newer_edged_is_refused_with_both_versions_and_left_as_it_is(
    path: Path, killed: bool
) -> None:
    with a_journal(path) as journal:
        fill(journal, 5)
    with closing(sqlite3.connect(path, isolation_level=None)) as newer:
        newer.execute("PRAGMA wal_autocheckpoint = 0")
        newer.execute(f"PRAGMA user_version = {LAYOUT + 1}")
        files = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    if killed:
        for name, content in files.items():
            path.with_name(name).write_bytes(content)
    files = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    with pytest.raises(ConfigError, match=r"layout 3, and edged 0\.\S+ knows those up to 2"), a_journal(path):
        pass
    after = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    assert {name: content for name, content in after.items() if not name.endswith("-shm")} == {
        name: content for name, content in files.items() if not name.endswith("-shm")
    }


def test_a_folder_or_device_in_place_of_the_file_is_a_clear_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(ConfigError, match="it is a folder or a device, not a file"), a_journal(path):
            pass
