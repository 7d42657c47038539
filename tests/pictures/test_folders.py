"""Which files of a folder are pictures."""

import errno
import os
from pathlib import Path

import pytest

from edged.camera.sources.folder import Folder
from edged.errors import CameraError
from edged.pictures.folders import pictures_in
from tests.camera.pictures import plain, write_picture


def test_hidden_files_are_no_pictures_and_rare_suffixes_are(tmp_path: Path) -> None:
    names = ["a.JPG", "b.jfif", "c.jpe", "._a.jpg", ".thumbnails/a.jpg", "notes.txt", "gone.jpg"]
    picture = write_picture(tmp_path / "x.jpg", plain(10)).read_bytes()
    (tmp_path / "x.jpg").unlink()
    (tmp_path / ".thumbnails").mkdir()
    for name in names:
        (tmp_path / name).write_bytes(picture)
    (tmp_path / "gone.jpg").unlink()
    (tmp_path / "gone.jpg").symlink_to(tmp_path / "absent")

    assert [path.name for path in pictures_in(tmp_path)] == ["a.JPG", "b.jfif", "c.jpe"]


def test_another_path_has_no_pictures(tmp_path: Path) -> None:
    assert pictures_in(tmp_path / "absent") == pictures_in(write_picture(tmp_path / "a.png", plain(10))) == []


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_picture(tmp_path / "cat/a.png", plain(10))
    listed = os.scandir

    def scandir(path: Path) -> object:
        if path.name == "cat":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)

    with pytest.raises(CameraError, match="cat: cannot be listed: Permission denied"):
        Folder(tmp_path).open()
