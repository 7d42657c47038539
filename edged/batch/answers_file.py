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
from edged.messages import Box, Label
from edged.system.files import FOR_ALL, replace_file

ROWS = 10_000  # in memory at a time, and in one row group of the file

PICTURES, PROBLEMS = "edged.pictures", "edged.problems"  # metadata of a file: its counts

LABEL = pyarrow.struct([("label", pyarrow.string()), ("index", pyarrow.int32()), ("score", pyarrow.float32())])
SIDES = ("left", "top", "right", "bottom")
FIRST = [
    ("picture", pyarrow.string()),
    ("captured_at", pyarrow.float64()),
    ("frame", pyarrow.int64()),
    ("at_s", pyarrow.float64()),
    ("label", pyarrow.string()),
    ("index", pyarrow.int32()),
    ("score", pyarrow.float32()),
]
SCHEMA = pyarrow.schema([*FIRST, ("problem", pyarrow.string()), ("top", pyarrow.list_(LABEL))])
BOXES_SCHEMA = pyarrow.schema(
    [*FIRST, *((side, pyarrow.float32()) for side in SIDES), ("problem", pyarrow.string())]
)


@dataclass(frozen=True)
class ArchiveAnswer:
    """The answer to a picture, best label or box first; or `problem`, why there is none.

    `top`: of a classifier. `boxes`: of a detector.
    """

    picture: str
    captured_at: float | None
    frame: int | None
    at_s: float | None
    top: tuple[Label, ...] = ()
    problem: str | None = None
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True)
class AnswerCount:
    """Pictures of files, and how many of them have a problem in place of an answer."""

    pictures: int
    problems: int


def write_answers(
    path: Path, answers: Iterable[ArchiveAnswer], about: Mapping[str, str], *, of_boxes: bool = False
) -> AnswerCount:
    """Write a file whole or not at all. `about`: metadata of the file. Raises ConfigError.

    of_boxes: write a row for each box, one without a label for a picture without boxes; else one for each picture.
    The same answers are always the same bytes.
    """
    table_of, schema = (_boxes_table, BOXES_SCHEMA) if of_boxes else (_table, SCHEMA)
    schema = schema.with_metadata({f"edged.{key}": value for key, value in about.items()})
    remaining, pictures, problems = iter(answers), 0, 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, FOR_ALL) as file, parquet.ParquetWriter(file, schema) as writer:
            while group := list(islice(remaining, ROWS)):
                writer.write_table(table_of(group, schema))
                pictures += len(group)
                problems += sum(answer.problem is not None for answer in group)
            writer.add_key_value_metadata({PICTURES: str(pictures), PROBLEMS: str(problems)})
    except OSError as error:
        raise ConfigError(f"--output: {path}: cannot be written: {error.strerror or error}") from None
    return AnswerCount(pictures, problems)


def count_answers(path: Path) -> AnswerCount:
    """Count the pictures of a file by its metadata alone. Raises ConfigError."""
    try:
        found = parquet.read_metadata(path).metadata or {}
        return AnswerCount(int(found[PICTURES.encode()]), int(found[PROBLEMS.encode()]))
    except (OSError, pyarrow.ArrowException, KeyError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{path}: is damaged ({reason}): delete it, and run the same command again") from None


def _table(answers: Sequence[ArchiveAnswer], schema: pyarrow.Schema) -> pyarrow.Table:
    first = [answer.top[0] if answer.top else None for answer in answers]
    columns = {
        **_columns_of(answers, first),
        "top": _lists([answer.top for answer in answers], schema.field("top").type),
    }
    return pyarrow.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _boxes_table(answers: Sequence[ArchiveAnswer], schema: pyarrow.Schema) -> pyarrow.Table:
    rows = [(answer, box) for answer in answers for box in answer.boxes or (None,)]
    boxes = [box for _, box in rows]
    sides = {
        side: _numbers([None if box is None else box.box[number] for box in boxes], pyarrow.float32())
        for number, side in enumerate(SIDES)
    }
    columns = {**_columns_of([answer for answer, _ in rows], boxes), **sides}
    return pyarrow.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _columns_of(answers: Sequence[ArchiveAnswer], labels: Sequence[Label | Box | None]) -> dict[str, Any]:
    """Return the columns of `FIRST`, and the problems, of rows with an answer and a label or a box each."""
    return {
        "picture": _texts([answer.picture for answer in answers]),
        "captured_at": _numbers([answer.captured_at for answer in answers], pyarrow.float64()),
        "frame": _numbers([answer.frame for answer in answers], pyarrow.int64()),
        "at_s": _numbers([answer.at_s for answer in answers], pyarrow.float64()),
        **dict(zip(LABEL.names, _fields(labels), strict=True)),
        "problem": _texts([answer.problem for answer in answers]),
    }


def _lists(tops: Sequence[Sequence[Label]], kind: Any) -> Any:
    labels = list(chain.from_iterable(tops))
    items = pyarrow.Array.from_buffers(LABEL, len(labels), [None], children=_fields(labels))
    return pyarrow.Array.from_buffers(kind, len(tops), [None, _offsets(tops)], children=[items])


def _fields(labels: Sequence[Label | Box | None]) -> list[Any]:
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
