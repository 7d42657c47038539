"""`edged export`: what the journal holds, for other programs."""

import argparse
import contextlib
import csv
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from edged import log
from edged.cli.numbers import ago
from edged.cli.run import DEMO, config_or_demo
from edged.clock import wall_s
from edged.config_file import load_config
from edged.errors import ConfigError
from edged.hub.journal_reader import JournalReader
from edged.messages import Prediction, prediction_from_json
from edged.paths import journal_path

COLUMNS = (
    "seq", "published_at", "captured_at", "node", "camera", "frame", "label", "score", "truth", "model", "device",
    "total_s", "joules",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which journal, how much of it, and how."""
    parser.add_argument(
        "config", type=Path, nargs="?", metavar="CONFIG", help=f"whose journal (default: {DEMO}, where it is)"
    )
    parser.add_argument("--since", type=ago, metavar="TIME", help="begin so long ago: 30s, 5m, 2h, 1d; else all")
    parser.add_argument(
        "--format",
        choices=["csv", "jsonl"],
        default="csv",
        help="csv: the best label alone; jsonl: as published",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="a new file (default: standard output)")


def run(arguments: argparse.Namespace) -> int:
    """The daemon may run meanwhile."""
    log.configure()
    config = load_config(config_or_demo(arguments.config))
    path = journal_path(config.node, config.journal.path)
    if not path.is_file():
        raise ConfigError(f"there is no journal at {path}: has `edged run` been started with this config?")
    since = None if arguments.since is None else wall_s() - arguments.since
    predictions = JournalReader(path).since(since)
    try:
        with _opened(arguments.output) as output:
            (_write_csv if arguments.format == "csv" else _write_lines)(predictions, output)
            output.flush()
    except sqlite3.Error as error:
        raise ConfigError(f"journal {path} cannot be read: {error}") from None
    return 0


def row(prediction: Prediction) -> tuple[object, ...]:
    """The values of COLUMNS; None where there is none."""
    best = prediction.top[0] if prediction.top else None
    return (
        prediction.seq, prediction.published_at, prediction.captured_at,
        prediction.node, prediction.camera, prediction.frame,
        best and best.label, best and best.score, prediction.truth,
        prediction.model.name, prediction.model.device,
        prediction.seconds.total, prediction.energy.joules,
    )  # fmt: skip


def _write_csv(predictions: Iterable[bytes], output: TextIO) -> None:
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row(prediction_from_json(json)) for json in predictions)


def _write_lines(predictions: Iterable[bytes], output: TextIO) -> None:
    output.writelines(json.decode() + "\n" for json in predictions)


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    try:
        file = path.open("x", encoding="utf-8", newline="")
    except OSError as error:
        raise ConfigError(f"--output {path} cannot be written: {error.strerror}") from None
    with file:
        yield file
