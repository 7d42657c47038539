"""The pictures that a Parquet file lists, with their cameras and times. Needs pyarrow, an optional dependency."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from edged.batch.archive_entry import ArchiveEntry, file_time, folder_of
from edged.errors import DataError

ROWS = 10_000  # in memory at a time
LATEST_S = 253_402_300_800  # the year 10000: milliseconds in place of seconds are found
COLUMNS = {"path": "string", "camera": "string", "captured_at": "timestamp, or seconds since 1970"}


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
                    yield _entry(path, number, row, camera)
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
        place = rows.schema.names.index("captured_at")
        micros = rows.column(place).cast(pyarrow.timestamp("us"), safe=False).cast(pyarrow.int64())
        rows = rows.set_column(place, "captured_at", pyarrow.compute.divide(micros.cast("float64"), 1e6))
    yield from rows.to_pylist()


def _entry(path: Path, number: int, row: dict[str, Any], camera: str | None) -> ArchiveEntry:
    name, time = row["path"], row.get("captured_at")
    if not name:
        raise DataError(f"{path}: row {number}: its `path` is empty; expected the file of a picture")
    if time is None:
        time = file_time(path.parent / name)
    elif not 0 <= time < LATEST_S:
        raise DataError(f"{path}: row {number}: `captured_at` is {time:g}; expected seconds since 1970")
    return ArchiveEntry(name, camera or row.get("camera") or folder_of(path.parent, name), time)
