"""What an archive holds: pictures and videos of a folder, of a text list, or a single video."""

import os
from collections.abc import Iterator
from pathlib import Path

from edged.batch.archive_entry import ArchiveEntry, file_time, folder_of, is_video
from edged.batch.parquet_list import entries_of_parquet
from edged.camera.sources.folder import SUFFIXES
from edged.errors import DataError

EXPECTED = "a folder of pictures or videos, a text list of them, a Parquet file with a column `path`, or a video"


def archive_root(path: Path) -> Path:
    """Return the folder to which the names of the entries are relative."""
    return path if path.is_dir() else path.parent


def archive_entries(path: Path, camera: str | None) -> Iterator[ArchiveEntry]:
    """Yield the entries of a folder, list, Parquet file or video, always in the same order.

    camera: for all of them; None for the name of the sub-folder, of the file's folder, or of the column. Only the
    names of one folder are in memory at a time. Raises DataError.
    """
    if path.is_dir():
        return _in_folder(path, camera)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; expected {EXPECTED}")
    if is_video(path.name):
        return iter([_entry(path.parent, path.name, camera or path.stem)])
    if path.suffix.lower() == ".parquet":
        return entries_of_parquet(path, camera)
    if path.suffix.lower() in SUFFIXES:
        return iter([_entry(path.parent, path.name, camera)])
    return _in_list(path, camera)


def _entry(root: Path, name: str, camera: str | None) -> ArchiveEntry:
    return ArchiveEntry(name, camera or folder_of(root, name), file_time(root / name))


def _in_folder(root: Path, camera: str | None) -> Iterator[ArchiveEntry]:
    """Yield the files below `root`; the camera is the first sub-folder, else the folder itself."""
    for name in _files_below(root, ""):
        top, is_below, _ = name.partition("/")
        yield _entry(root, name, camera or (top if is_below else root.absolute().name))


def _files_below(root: Path, below: str) -> Iterator[str]:
    """Yield names relative to `root`, sorted; links to folders are not followed, so that there is no circle."""
    try:
        with os.scandir(root / below) as folder:
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in folder)
    except OSError as error:
        raise DataError(f"{root / below}: cannot be listed: {error.strerror}") from None
    for name, is_folder in found:
        path = f"{below}/{name}" if below else name
        if is_folder:
            yield from _files_below(root, path)
        elif (os.path.splitext(name)[1].lower() in SUFFIXES or is_video(name)) and os.path.isfile(root / path):
            yield path


def _in_list(path: Path, camera: str | None) -> Iterator[ArchiveEntry]:
    """Yield the file on each line; blank lines and those that begin with # are skipped."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for line in lines:
                if (name := line.strip()) and not name.startswith("#"):
                    yield _entry(path.parent, name, camera)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text; expected {EXPECTED}") from None
