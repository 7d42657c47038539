"""List what an archive holds: pictures and videos of a folder, of a text list or of a Parquet file, or one video.

Needs pyarrow, an optional dependency.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from edged.camera.sources import is_video_name
from edged.errors import DataError
from edged.pictures.folders import files_below, is_picture_name
from edged.system.files import reading

ROWS = 10_000  # in memory at a time
LATEST_S = 253_402_300_800  # the year 10000: milliseconds in place of seconds are found
COLUMNS = {"path": "string", "camera": "string", "captured_at": "timestamp, or seconds since 1970"}
EXPECTED = "a folder of pictures or videos, a text list of them, a Parquet file with a column `path`, or a video"


@dataclass(frozen=True)
class ArchiveEntry:
    """A picture or a video. `name`: its path below the archive's root, or an absolute one.

    `captured_at`: seconds since 1970, or None if the file is absent.
    """

    name: str
    camera: str
    captured_at: float | None

    @property
    def is_video(self) -> bool:
        return is_video_name(self.name)


def file_time(path: Path) -> float | None:
    """Return when a file was written, in seconds since 1970; None for a file that is absent."""
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return None


def folder_of(root: Path, name: str) -> str:
    """Return the name of the folder that holds a file, as its camera."""
    return (root / name).parent.name or "archive"


def entries_of_parquet(path: Path, camera: str | None) -> Iterator[ArchiveEntry]:
    """Yield the rows of a file with the columns `path`, and if it has them `camera` and `captured_at`.

    Raises DataError, which names the file, the column or the row, and what was expected.
    """
    try:
        with parquet.ParquetFile(path) as file:
            columns = _columns(path, file.schema_arrow)
            number = 0
            for rows in file.iter_batches(ROWS, columns=columns):
                for row in _values(rows):
                    yield _entry_of_row(path, number, row, camera)
                    number += 1
    except (OSError, pyarrow.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: cannot be read as Parquet: {reason}") from None


def _columns(path: Path, schema: Any) -> list[str]:
    """Return the columns to read. Raises DataError if `path` is absent, or one has another type."""
    if "path" not in schema.names:
        found = ", ".join(schema.names) or "none"
        raise DataError(f"{path}: has no column `path` with the files of pictures; its columns: {found}")
    columns = [name for name in COLUMNS if name in schema.names]
    for name in columns:
        kind = schema.field(name).type
        if not (_is_time(kind) if name == "captured_at" else _is_text(kind)):
            raise DataError(f"{path}: column `{name}` is {kind}; expected {COLUMNS[name]}")
    return columns


def _is_text(kind: Any) -> bool:
    types = pyarrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_time(kind: Any) -> bool:
    types = pyarrow.types
    return bool(types.is_timestamp(kind) or types.is_floating(kind) or types.is_integer(kind))


def _values(rows: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows with `captured_at` in seconds; a timestamp without a time zone is UTC."""
    if "captured_at" in rows.schema.names and pyarrow.types.is_timestamp(rows.schema.field("captured_at").type):
        index = rows.schema.names.index("captured_at")
        micros = rows.column(index).cast(pyarrow.timestamp("us"), safe=False).cast(pyarrow.int64())
        rows = rows.set_column(index, "captured_at", pyarrow.compute.divide(micros.cast("float64"), 1e6))
    yield from rows.to_pylist()


def _entry_of_row(path: Path, number: int, row: dict[str, Any], camera: str | None) -> ArchiveEntry:
    name, time = row["path"], row.get("captured_at")
    if not name:
        raise DataError(f"{path}: row {number}: its `path` is empty; expected the file of a picture")
    if time is None:
        time = file_time(path.parent / name)
    elif not 0 <= time < LATEST_S:
        raise DataError(f"{path}: row {number}: `captured_at` is {time:g}; expected seconds since 1970")
    return ArchiveEntry(name, camera or row.get("camera") or folder_of(path.parent, name), time)


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
    if is_video_name(path.name):
        return iter([_entry(path.parent, path.name, camera or path.stem)])
    if path.suffix.lower() == ".parquet":
        return entries_of_parquet(path, camera)
    if is_picture_name(path.name):
        return iter([_entry(path.parent, path.name, camera)])
    return _in_list(path, camera)


def _entry(root: Path, name: str, camera: str | None) -> ArchiveEntry:
    return ArchiveEntry(name, camera or folder_of(root, name), file_time(root / name))


def _in_folder(root: Path, camera: str | None) -> Iterator[ArchiveEntry]:
    """Yield the files below `root`; the camera is the first sub-folder, else the folder itself."""
    try:
        for name in files_below(root):
            if is_picture_name(name) or is_video_name(name):
                top, is_below, _ = name.partition("/")
                yield _entry(root, name, camera or (top if is_below else root.absolute().name))
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be listed: {error.strerror}") from None


def _in_list(path: Path, camera: str | None) -> Iterator[ArchiveEntry]:
    """Yield the file on each line; except blank ones and those that begin with #. Names need not be UTF-8."""
    with reading(path, DataError), path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
        for line in lines:
            if "\0" in line:
                raise DataError(f"{path}: is not a text file; expected {EXPECTED}")
            if (name := line.strip()) and not name.startswith("#"):
                yield _entry(path.parent, name, camera)
