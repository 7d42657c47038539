"""The folder of a hub's sockets."""

import os
import shutil
from pathlib import Path

import pytest

from edged.errors import ConfigError
from edged.hub.links.runtime_folder import private_folder
from edged.system.paths import link_to_runtime_directory, runtime_directory


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a daemon whose sockets are in `tmp_path/run`."""
    (tmp_path / "run").mkdir()
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "state" / "journal.sqlite"


def test_it_is_for_this_user_alone_and_gone_at_the_end(journal: Path) -> None:
    with private_folder(journal) as folder:
        assert folder.path == runtime_directory(journal)
        assert folder.path.stat().st_mode & 0o777 == 0o700
        (folder.path / "config.json").touch()
    assert not folder.path.exists()


def test_what_a_killed_hub_has_left_is_removed(journal: Path) -> None:
    left = runtime_directory(journal)
    left.mkdir(mode=0o700)
    (left / "config.json").write_text("old")
    with private_folder(journal) as folder:
        assert folder.path == left
        assert list(left.iterdir()) == []


def test_a_second_daemon_is_refused_and_takes_nothing_away(journal: Path) -> None:
    with private_folder(journal) as folder:
        (folder.path / "config.json").touch()
        with pytest.raises(ConfigError, match="another edged"), private_folder(journal):
            pass
        assert (folder.path / "config.json").exists()


def put_something_else(usual: Path, what: str) -> None:
    """What somebody else may have put at the usual place, whose name can be guessed."""
    theirs = usual.with_name("theirs")
    theirs.mkdir()
    match what:
        case "open to others":
            usual.mkdir(mode=0o755)
        case "a link":
            usual.symlink_to(theirs)
        case "a file":
            usual.touch()
        case "another user's":
            usual.mkdir(mode=0o700)
            os.chown(usual, 12345, 12345)


TRAPS = ["open to others", "a link", "a file", "another user's"]


@pytest.mark.parametrize("trap", TRAPS)
def test_a_folder_of_another_user_is_left_alone_and_another_one_found_by_all(journal: Path, trap: str) -> None:
    if trap == "another user's" and os.geteuid():
        pytest.skip("needs root: gives a folder to another user")
    usual = runtime_directory(journal)
    put_something_else(usual, trap)
    with private_folder(journal) as folder:
        assert folder.path != usual
        assert folder.path.parent == usual.parent
        assert folder.path.stat().st_mode & 0o777 == 0o700
        assert runtime_directory(journal) == folder.path
    assert not folder.path.exists()
    assert not link_to_runtime_directory(journal).is_symlink()
    assert usual.exists()


def test_the_other_folder_of_a_hub_that_was_killed_is_used_again(journal: Path) -> None:
    put_something_else(runtime_directory(journal), "a file")
    with private_folder(journal) as killed:
        other, link = killed.path, link_to_runtime_directory(journal)
    other.mkdir(mode=0o700)
    link.symlink_to(other)
    with private_folder(journal) as folder:
        assert folder.path == other


def test_a_link_to_a_folder_of_another_user_is_not_followed(journal: Path) -> None:
    usual = runtime_directory(journal)
    put_something_else(usual, "a file")
    journal.parent.mkdir()
    link_to_runtime_directory(journal).symlink_to(usual.with_name("theirs"))  # its mode is 0755
    assert runtime_directory(journal) == usual
    with private_folder(journal) as folder:
        assert folder.path not in {usual, usual.with_name("theirs")}


def test_a_folder_that_was_removed_is_made_again_and_still_ours_alone(journal: Path) -> None:
    with private_folder(journal) as folder:
        assert folder.is_there()
        shutil.rmtree(folder.path)
        assert not folder.is_there()
        folder.make_again()
        assert folder.is_there()
        with pytest.raises(ConfigError, match="another edged"), private_folder(journal):
            pass
