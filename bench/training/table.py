"""What was measured as Markdown tables."""

import statistics
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from bench.peers.table import as_markdown

YARDSTICK = "pytorch"
COLUMNS = ("", "images/s", "quartiles", f"÷ {YARDSTICK}", "quartiles", "runs", "first loss")
LAYERS = ("", "ms", f"÷ {YARDSTICK}", "GFLOP/s")

Row = Mapping[str, Any]


def section(measured: Row) -> str:
    """A network with one number of threads."""
    title = f"## {measured['case']}, batch {measured['batch']}, threads {measured['threads']}"
    yardstick = next(row for row in measured["rows"] if row["name"] == YARDSTICK)
    rows = [_row(row, _rates(yardstick)) for row in measured["rows"]]
    return "\n".join([title, "", *as_markdown([COLUMNS, *rows]), ""])


def _row(row: Row, yardstick: Sequence[Sequence[float]]) -> tuple[str, ...]:
    turns = _rates(row)
    rates = list(chain.from_iterable(turns))
    ratios = [
        rate / statistics.median(other)
        for turn, other in zip(turns, yardstick, strict=True)
        if other
        for rate in turn
    ]
    middle, ratio = statistics.median(rates), statistics.median(ratios)
    counted = str(len(rates)), f"{row['loss']:.4f}"
    return row["name"], f"{middle:.0f}", _quartiles(rates, 0), f"{ratio:.2f}", _quartiles(ratios, 2), *counted


def _rates(row: Row) -> list[list[float]]:
    """Images a second of each run, by turn."""
    return [[row["images"] / seconds for seconds in turn] for turn in row["turns"]]


def _quartiles(values: Sequence[float], digits: int) -> str:
    low, high = np.percentile(values, (25, 75))
    return f"{low:.{digits}f} {high:.{digits}f}"


def layer_section(measured: Row) -> str:
    """A convolution over all images."""
    title = f"## {measured['layer']}: {measured['images']} images, threads {measured['threads']}"
    medians = {name: statistics.median(chain.from_iterable(turns)) for name, turns in measured["turns"].items()}
    rows = [
        (name, f"{1e3 * took:.0f}", f"{took / medians[YARDSTICK]:.2f}", f"{measured['flops'] / took / 1e9:.1f}")
        for name, took in medians.items()
    ]
    return "\n".join([title, "", *as_markdown([LAYERS, *rows]), ""])
