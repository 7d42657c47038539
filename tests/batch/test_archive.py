"""What an archive holds."""

import datetime as dates
import os
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from edged.batch.archive import archive_entries
from edged.camera.sources import VIDEO_SUFFIXES
from edged.errors import DataError
from tests.batch.archives import NOON, archive, made
from tests.evaluation.pictures import picture

FIRST = NOON["2026-01-05"]


def found(path: Path, camera: str | None = None) -> list[tuple[str, str, float | None]]:
    return [(each.name, each.camera, each.captured_at) for each in archive_entries(path, camera)]


def test_a_folder_gives_its_files_by_name_with_the_sub_folder_as_camera(tmp_path: Path) -> None:
    archive(tmp_path / "all", each=1)
    made(picture(tmp_path / "all" / "z.png"), FIRST)
    (tmp_path / "all" / "notes.txt").write_text("no picture")

    assert found(tmp_path / "all") == [
        ("door/2026-01-05-000.png", "door", FIRST),
        ("door/2026-01-06-000.png", "door", NOON["2026-01-06"]),
        ("gate/2026-01-05-000.png", "gate", FIRST),
        ("gate/2026-01-06-000.png", "gate", NOON["2026-01-06"]),
        ("gate/bad.jpg", "gate", FIRST),
        ("gate/clip.avi", "gate", NOON["2026-01-06"]),
        ("z.png", "all", FIRST),
    ]
    assert {camera for _, camera, _ in found(tmp_path / "all", "roof")} == {"roof"}


def test_a_list_gives_its_lines_even_if_a_file_is_absent(tmp_path: Path) -> None:
    made(picture(tmp_path / "door" / "a.png"), FIRST)
    listed = tmp_path / "list.txt"
    listed.write_text("# two\ndoor/a.png\n\ngate/my photo.jpg\n")

    assert found(listed) == [("door/a.png", "door", FIRST), ("gate/my photo.jpg", "gate", None)]


def test_a_list_may_name_files_that_are_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.png")
    made(picture(tmp_path / "a.png").rename(tmp_path / name), FIRST)
    (tmp_path / "list.txt").write_bytes(b"\xff.png\n")

    assert found(tmp_path / "list.txt") == [(name, tmp_path.name, FIRST)]


def test_every_video_that_a_camera_may_play_belongs_to_an_archive(tmp_path: Path) -> None:
    for suffix in sorted(VIDEO_SUFFIXES):
        (tmp_path / f"clip{suffix.upper()}").touch()

    assert [Path(name).suffix.lower() for name, *_ in found(tmp_path)] == sorted(VIDEO_SUFFIXES)


def test_a_video_is_an_archive_and_its_own_camera(tmp_path: Path) -> None:
    archive(tmp_path)

    assert found(tmp_path / "gate" / "clip.avi") == [("clip.avi", "clip", NOON["2026-01-06"])]


@pytest.mark.parametrize("times", ["seconds", "timestamps", "none"])
def test_a_parquet_file_gives_path_camera_and_time(tmp_path: Path, times: str) -> None:
    made(picture(tmp_path / "yard" / "b.png"), FIRST)
    columns: dict[str, Any] = {"path": ["door/a.png", "yard/b.png"], "camera": ["door", None], "other": [1, 2]}
    if times == "seconds":
        columns["captured_at"] = [FIRST, None]
    elif times == "timestamps":
        columns["captured_at"] = [dates.datetime(2026, 1, 5, 12, tzinfo=dates.UTC), None]
    parquet.write_table(pyarrow.table(columns), tmp_path / "all.parquet")

    first = None if times == "none" else FIRST
    assert found(tmp_path / "all.parquet") == [("door/a.png", "door", first), ("yard/b.png", "yard", FIRST)]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"file": ["a.png"], "label": ["cat"]}, "has no column `path`.*its columns: file, label"),
        ({"path": [1, 2]}, "column `path` is int64; expected string"),
        ({"path": ["a.png"], "captured_at": ["noon"]}, "column `captured_at` is string; expected timestamp"),
        ({"path": ["a.png", None]}, "row 1: its `path` is empty"),
        ({"path": ["a.png"], "captured_at": [1.7e12]}, "row 0: `captured_at` is 1.7e[+]12; expected seconds"),
    ],
)
def test_a_parquet_file_with_other_columns_is_refused(
    tmp_path: Path, columns: dict[str, Any], problem: str
) -> None:
    parquet.write_table(pyarrow.table(columns), tmp_path / "all.parquet")

    with pytest.raises(DataError, match=problem):
        found(tmp_path / "all.parquet")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("absent", None, "no such file or folder"),
        ("all.parquet", b"no table", "cannot be read as Parquet"),
        ("list.bin", b"\xff\xfe\x00", "is not a text file"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, name: str, content: bytes | None, problem: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(DataError, match=problem):
        found(tmp_path / name)
