"""Write a Parquet file. The only module that imports pyarrow, an optional dependency."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import pyarrow as arrow
from pyarrow.parquet import ParquetWriter

ROWS = 10_000  # in memory at a time, and in one row group of the file

_TYPES = {
    "seq": arrow.int64(),
    "frame": arrow.int64(),
    "published_at": arrow.float64(),
    "captured_at": arrow.float64(),
    "score": arrow.float64(),
    "total_s": arrow.float64(),
    "joules": arrow.float64(),
}  # all others are strings


def write_parquet(columns: Sequence[str], rows: Iterable[Sequence[object]], output: BinaryIO) -> None:
    """Write a table with these columns, in row groups of ROWS."""
    schema = arrow.schema([(name, _TYPES.get(name, arrow.string())) for name in columns])
    with ParquetWriter(output, schema) as writer:
        for group in _groups(iter(rows)):
            values = zip(*group, strict=True)
            writer.write_table(arrow.table(dict(zip(columns, map(list, values), strict=True)), schema=schema))


def _groups(rows: Iterator[Sequence[object]]) -> Iterator[list[Sequence[object]]]:
    while group := list(islice(rows, ROWS)):
        yield group
