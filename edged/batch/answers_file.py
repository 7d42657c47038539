"""The answers of a chunk as a Parquet file. Needs pyarrow, an optional dependency.

Columns are made of their buffers: `pyarrow.array`, and all that calls it, first imports pandas where that is
installed, as it is with Ray, a third to half of a processor second. Layout: Arrow's columnar format,
https://arrow.apache.org/docs/format/Columnar.html.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow import parquet

from edged.errors import ConfigError
from edged.messages import Label
from edged.system.files import FOR_ALL, replace_file

ROWS = 10_000  # in memory at a time, and in one row group of the file

LABEL = pyarrow.struct([("label", pyarrow.string()), ("index", pyarrow.int32()), ("score", pyarrow.float32())])
SCHEMA = pyarrow.schema(
    [
        ("picture", pyarrow.string()),
        ("captured_at", pyarrow.float64()),
        ("frame", pyarrow.int64()),
        ("at_s", pyarrow.float64()),
        ("label", pyarrow.string()),
        ("index", pyarrow.int32()),
        ("score", pyarrow.float32()),
        ("problem", pyarrow.string()),
        ("top", pyarrow.list_(LABEL)),
    ]
)


@dataclass(frozen=True)
class ArchiveAnswer:
    """The answer to a picture, best label first; or `problem`, why there is none."""

    picture: str
    captured_at: float | None
    frame: int | None
    at_s: float | None
    top: tuple[Label, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class AnswerCount:
    """Rows of files, and how many of them have a problem in place of an answer."""

    pictures: int
    problems: int


def write_answers(path: Path, answers: Iterable[ArchiveAnswer], about: Mapping[str, str]) -> AnswerCount:
    """Write a file whole or not at all. `about`: metadata of the file. Raises ConfigError.

    The same answers are always the same bytes.
    """
    schema = SCHEMA.with_metadata({f"edged.{key}": value for key, value in about.items()})
    remaining, pictures, problems = iter(answers), 0, 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, FOR_ALL) as file, parquet.ParquetWriter(file, schema) as writer:
            while group := list(islice(remaining, ROWS)):
                writer.write_table(_table(group, schema))
                pictures += len(group)
                problems += sum(answer.problem is not None for answer in group)
    except OSError as error:
        raise ConfigError(f"--output: {path}: cannot be written: {error.strerror or error}") from None
    return AnswerCount(pictures, problems)


def count_answers(path: Path) -> AnswerCount:
    """Count the rows of a file by its metadata alone. Raises ConfigError."""
    try:
        found = parquet.read_metadata(path)
    except (OSError, pyarrow.ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{path}: is damaged ({reason}): delete it, and run the same command again") from None
    index = found.schema.names.index("problem")
    groups = [found.row_group(number).column(index) for number in range(found.num_row_groups)]
    return AnswerCount(found.num_rows, sum(each.num_values - each.statistics.null_count for each in groups))


def _table(answers: Sequence[ArchiveAnswer], schema: pyarrow.Schema) -> pyarrow.Table:
    first = [answer.top[0] if answer.top else None for answer in answers]
    columns = {
        "picture": _texts([answer.picture for answer in answers]),
        "captured_at": _numbers([answer.captured_at for answer in answers], pyarrow.float64()),
        "frame": _numbers([answer.frame for answer in answers], pyarrow.int64()),
        "at_s": _numbers([answer.at_s for answer in answers], pyarrow.float64()),
        **dict(zip(LABEL.names, _fields(first), strict=True)),
        "problem": _texts([answer.problem for answer in answers]),
        "top": _lists([answer.top for answer in answers], schema.field("top").type),
    }
    return pyarrow.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _lists(tops: Sequence[Sequence[Label]], kind: Any) -> Any:
    labels = list(chain.from_iterable(tops))
    items = pyarrow.Array.from_buffers(LABEL, len(labels), [None], children=_fields(labels))
    return pyarrow.Array.from_buffers(kind, len(tops), [None, _offsets(tops)], children=[items])


def _fields(labels: Sequence[Label | None]) -> list[Any]:
    """Return arrays of the fields of LABEL."""
    return [
        _texts([None if label is None else label.label for label in labels]),
        _numbers([None if label is None else label.index for label in labels], pyarrow.int32()),
        _numbers([None if label is None else label.score for label in labels], pyarrow.float32()),
    ]


def _numbers(values: Sequence[float | None], kind: Any) -> Any:
    content = np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())
    return pyarrow.Array.from_buffers(kind, len(values), [_validity(values), pyarrow.py_buffer(content)])


def _texts(values: Sequence[str | None]) -> Any:
    encoded = [(value or "").encode() for value in values]
    buffers = [_validity(values), _offsets(encoded), pyarrow.py_buffer(b"".join(encoded))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(values), buffers)


def _validity(values: Sequence[object]) -> Any:
    """Return the bitmap of what is not null; None where nothing is."""
    valid = [value is not None for value in values]
    return None if all(valid) else pyarrow.py_buffer(np.packbits(valid, bitorder="little"))


def _offsets(values: Sequence[Sequence[object] | bytes]) -> Any:
    lengths: NDArray[np.int32] = np.fromiter(chain((0,), map(len, values)), np.int32)
    return pyarrow.py_buffer(np.cumsum(lengths, dtype=np.int32))
