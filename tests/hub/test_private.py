"""The folder of a hub's sockets."""

import os
from pathlib import Path

import pytest

from edged.errors import ConfigError
from edged.hub.links.private import private_folder


def test_it_is_for_this_user_alone_and_gone_at_the_end(tmp_path: Path) -> None:
    with private_folder(tmp_path / "hub") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "config.json").touch()
    assert not folder.exists()


def test_what_a_killed_hub_has_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "hub").mkdir(mode=0o700)
    (tmp_path / "hub" / "config.json").write_text("old")
    with private_folder(tmp_path / "hub") as folder:
        assert list(folder.iterdir()) == []


def test_a_second_daemon_is_refused_and_takes_nothing_away(tmp_path: Path) -> None:
    with private_folder(tmp_path / "hub") as folder:
        (folder / "config.json").touch()
        with pytest.raises(ConfigError, match="another edged"), private_folder(tmp_path / "hub"):
            pass
        assert (folder / "config.json").exists()


@pytest.mark.parametrize("trap", ["open to others", "a link"])
def test_a_folder_that_another_program_has_made_is_refused(tmp_path: Path, trap: str) -> None:
    (tmp_path / "theirs").mkdir()
    if trap == "a link":
        os.symlink(tmp_path / "theirs", tmp_path / "hub")
    else:
        (tmp_path / "hub").mkdir(mode=0o755)
    with pytest.raises(ConfigError, match=str(tmp_path / "hub")), private_folder(tmp_path / "hub"):
        pass
