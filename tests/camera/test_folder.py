import os
from pathlib import Path

import pytest

from edged.camera.sources.folder import Folder
from edged.errors import CameraError, ImageError
from tests.camera.pictures import plain, write_picture


def test_pictures_come_by_name_with_their_folder_as_truth(tmp_path: Path) -> None:
    write_picture(tmp_path / "cat/b.png", plain(20))
    write_picture(tmp_path / "cat/a.jpg", plain(10))
    write_picture(tmp_path / "dog/deeper/a.webp", plain(30))
    write_picture(tmp_path / "z.bmp", plain(40))
    folder = Folder(tmp_path)
    folder.open()

    pictures = list(iter(folder.read, None))

    seen = [(round(picture.pixels.mean() / 10), picture.truth) for picture in pictures if picture]
    assert seen == [(1, "cat"), (2, "cat"), (3, "dog"), (4, None)]


def test_a_truth_is_text_that_can_be_sent_whatever_its_folder_is_called(tmp_path: Path) -> None:
    cats = write_picture(tmp_path / "cats/a.png", plain(10)).parent
    cats.rename(tmp_path / os.fsdecode(b"\xff\x1b[2J"))
    folder = Folder(tmp_path)
    folder.open()

    picture = folder.read()

    assert picture
    assert picture.truth == "??[2J"


def test_a_loop_goes_on_from_the_first_picture(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png", plain(10))
    write_picture(tmp_path / "b.png", plain(20))
    folder = Folder(tmp_path, loop=True)
    folder.open()

    levels = [round(picture.pixels.mean()) for picture in (folder.read() for _ in range(5)) if picture]

    assert levels == [10, 20, 10, 20, 10]


def test_an_unreadable_picture_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("not a picture")
    (tmp_path / "b.png").touch()
    write_picture(tmp_path / "c.png", plain(30))
    folder = Folder(tmp_path)
    folder.open()

    with pytest.raises(ImageError, match=r"a\.jpg"):
        folder.read()
    with pytest.raises(ImageError, match=r"b\.png"):
        folder.read()
    assert folder.read() is not None
    assert folder.read() is None


def test_a_loop_without_one_readable_picture_fails(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("not a picture")
    folder = Folder(tmp_path, loop=True)
    folder.open()
    with pytest.raises(ImageError):
        folder.read()

    with pytest.raises(CameraError, match="none of its 1 pictures"):
        folder.read()


def test_an_empty_folder_says_what_it_expected(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()

    with pytest.raises(CameraError, match=r"no pictures: expected .*\.png"):
        Folder(tmp_path).open()


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CameraError, match="gone does not exist"):
        Folder(tmp_path / "gone").open()


def test_class_folders_may_be_links_and_a_link_to_where_it_is_in_ends(tmp_path: Path) -> None:
    write_picture(tmp_path / "elsewhere/a.png", plain(10))
    write_picture(tmp_path / "set/dog/b.png", plain(20))
    (tmp_path / "set/cat").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "set/dog/again").symlink_to(tmp_path / "set")
    folder = Folder(tmp_path / "set")
    folder.open()

    truths = [picture.truth for picture in iter(folder.read, None) if picture]

    assert truths == ["cat", "dog"]
