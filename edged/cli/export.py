"""`edged export`: write the predictions of the journal as CSV, JSON lines or Parquet."""

import argparse
import contextlib
import csv
import logging
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from edged.cli.options import add_config, add_example, add_json, add_since, config_or_demo
from edged.clock import wall_s
from edged.config.load import load_config
from edged.errors import ConfigError, EdgedError
from edged.hub.journal.reader import JournalReader
from edged.messages import Prediction, prediction_from_json
from edged.system.files import writing
from edged.system.paths import journal_path
from edged.system.python_packages import install_command

logger = logging.getLogger("edged.export")

COLUMNS = (
    "seq", "published_at", "captured_at", "node", "camera", "frame", "label", "score", "truth", "model", "device",
    "total_s", "joules", "left", "top", "right", "bottom", "track",
)  # fmt: skip
TYPES = {  # in Parquet; all others are text
    "seq": "integer",
    "frame": "integer",
    "published_at": "number",
    "captured_at": "number",
    "score": "number",
    "total_s": "number",
    "joules": "number",
    "left": "number",
    "top": "number",
    "right": "number",
    "bottom": "number",
    "track": "integer",
}
NOTHING = None, None
NO_BOX = (None,) * 5
ROWS = 10_000  # in memory at a time, and in one row group of a Parquet file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the journal's config, the time range and the format."""
    add_config(parser)
    add_since(parser, "the oldest")
    parser.add_argument(
        "--format",
        choices=["csv", "jsonl", "parquet"],
        default="csv",
        help="csv, parquet: a row with the best label, of a detector a row for each box; jsonl: one JSON object a "
        "line, as published (default: csv)",
    )
    add_json(parser, "JSON lines: short for --format jsonl")
    parser.add_argument("--output", type=Path, metavar="FILE", help="a new file (default: standard output)")
    add_example(parser, "edged export edged.yaml --since 1d --output today.csv")


def run(arguments: argparse.Namespace) -> int:
    """Write the predictions; the daemon may run meanwhile."""
    config = load_config(config_or_demo(arguments.config), arguments.settings)
    path = journal_path(config.node, config.journal.path)
    if not path.is_file():
        raise ConfigError(f"there is no journal at {path}: has `edged run` been started with this config?")
    since = None if arguments.since is None else wall_s() - arguments.since
    predictions = JournalReader(path).since(since)
    write = {"csv": _write_csv, "jsonl": _write_lines, "parquet": _write_parquet}[
        "jsonl" if arguments.json else arguments.format
    ]
    try:
        write(predictions, arguments.output)
    except sqlite3.Error as error:
        raise ConfigError(f"journal {path} cannot be read: {error}") from None
    return 0


def rows(prediction: Prediction) -> Iterator[tuple[object, ...]]:
    """Yield the values of COLUMNS for the best label, or for each box; None for those that are not there.

    A picture without boxes, or without labels, has one row, too.
    """
    if prediction.boxes:
        yield from (_row(prediction, (box.label, box.score), (*box.box, box.track)) for box in prediction.boxes)
        return
    best = prediction.top[0] if prediction.top else None
    yield _row(prediction, (best.label, best.score) if best else NOTHING, NO_BOX)


def _row(
    prediction: Prediction, label_and_score: Sequence[object], sides_and_track: Sequence[object]
) -> tuple[object, ...]:
    return (
        prediction.seq, prediction.published_at, prediction.captured_at,
        prediction.node, prediction.camera, prediction.frame,
        *label_and_score, prediction.truth,
        prediction.model.name, prediction.model.device,
        prediction.seconds.total, prediction.energy.joules, *sides_and_track,
    )  # fmt: skip


def _write_csv(predictions: Iterable[bytes], path: Path | None) -> None:
    with _opened(path) as output:
        writer = csv.writer(output, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_rows(predictions))


def _write_lines(predictions: Iterable[bytes], path: Path | None) -> None:
    with _opened(path) as output:
        output.writelines(f"{json.decode()}\n" for json in predictions if _parse(json))


def _write_parquet(predictions: Iterable[bytes], path: Path | None) -> None:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise ConfigError(f"--format parquet needs pyarrow: {install_command('pyarrow')}") from None
    if path is None:
        raise ConfigError("--format parquet needs --output FILE: it is a binary format")
    types = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "text": pyarrow.string()}
    schema = pyarrow.schema([(name, types[TYPES.get(name, "text")]) for name in COLUMNS])
    with _opened(path) as output, ParquetWriter(output.buffer, schema) as writer:
        remaining = _rows(predictions)
        while group := list(islice(remaining, ROWS)):
            columns = dict(zip(COLUMNS, map(list, zip(*group, strict=True)), strict=True))
            writer.write_table(pyarrow.table(columns, schema=schema))


def _rows(predictions: Iterable[bytes]) -> Iterator[tuple[object, ...]]:
    return chain.from_iterable(map(rows, filter(None, map(_parse, predictions))))


def _parse(json: bytes) -> Prediction | None:
    """Parse a prediction; None, with a warning, for an entry that is none."""
    try:
        return prediction_from_json(json)
    except EdgedError:
        logger.warning("journal entry skipped, it is not a prediction: %r", json[:60])
        return None


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    with writing(f"--output {path}"):
        file = path.open("x", encoding="utf-8", newline="")
    with file:
        yield file
