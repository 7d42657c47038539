"""What was measured as a Markdown table that a terminal shows well too."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from tests.perf.peers.contenders import NOTES, YARDSTICK

COLUMNS = (
    "",
    "median ms",
    "quartiles",
    "frames/s",
    f"÷ {YARDSTICK}",
    "quartiles",
    "rounds",
    "error",
    "FMA",
    "memory",
)
Row = Mapping[str, Any]
Turns = Sequence[Sequence[float]]


def heading(machine: Mapping[str, str]) -> str:
    """The machine, and how to read what comes."""
    lines = [f"- {name}: {value}" for name, value in machine.items()]
    return "\n".join(["# edged and its peers", "", *lines, "", *EXPLANATION]) + "\n"


EXPLANATION = (
    "A row is the wall time of a job from host memory to host memory. edged takes uint8 images and prepares them",
    "on the device; the peers are given the prepared float32 images. Ratios are to the median of the same turn.",
    "Error: largest difference from the NumPy reference in float64, as a share of the scores' range.",
    "FMA and memory: share of the measured peaks, counting two operations a multiply-accumulate, and all weights",
    "read once a job, in float32 or as edged stores them. Winograd spares multiplications: it may exceed 100 %.",
)


def section(measured: Row) -> str:
    """One case with one number of threads."""
    title = f"## {measured['case']}, {_threads(measured['threads'])}"
    if "failed" in measured:
        return f"{title}\n\nNot measured: {measured['failed']}\n"
    cost = f"{measured['flops'] / 2e6:.0f} MMAC and {measured['weight_bytes'] / 1e6:.1f} MB of weights a job"
    yardstick: Turns = next((row["turns"] for row in measured["rows"] if row["name"] == YARDSTICK), [])
    rows = [_row(row, yardstick, measured) for row in measured["rows"]]
    notes = [f"- {row['name']}: {note}" for row in measured["rows"] if (note := _note(row))]
    lines = [
        title,
        "",
        f"{cost}; {_peaks(measured['peaks'])}.",
        "",
        *as_markdown([COLUMNS, *rows]),
        "",
        *notes,
        "",
    ]
    return "\n".join(lines)


def _threads(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def _peaks(peaks: Row) -> str:
    return f"peaks here: {peaks['flops_per_s'] / 1e9:.0f} GFLOP/s, {peaks['bytes_per_s'] / 1e9:.1f} GB/s"


def _row(row: Row, yardstick: Turns, measured: Row) -> tuple[str, ...]:
    seconds = list(chain.from_iterable(row["turns"]))
    if not seconds:
        return row["name"], "not run", *[""] * (len(COLUMNS) - 2)
    median, peaks = statistics.median(seconds), measured["peaks"]
    ratios = list(_ratios(row["turns"], yardstick))
    return (
        row["name"],
        f"{median * 1e3:.2f}",
        _quartiles([second * 1e3 for second in seconds]),
        f"{measured['batch'] / median:.1f}",
        f"{statistics.median(ratios):.2f}" if ratios else "",
        _quartiles(ratios),
        str(len(seconds)),
        "" if row["error"] is None else f"{row['error']:.0e}",
        f"{measured['flops'] / median / peaks['flops_per_s']:.0%}",
        f"{row['weight_bytes'] / median / peaks['bytes_per_s']:.0%}",
    )


def _ratios(turns: Turns, yardstick: Turns) -> Iterator[float]:
    for turn, other in zip(turns, yardstick, strict=False):
        for second in turn:
            yield second / statistics.median(other)


def _quartiles(values: Sequence[float]) -> str:
    if not values:
        return ""
    low, high = np.percentile(values, (25, 75))
    return f"{low:.2f} {high:.2f}"


def _note(row: Row) -> str:
    return f"not run: {row['missing']}" if "missing" in row else NOTES.get(row["name"], "")


def as_markdown(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Names to the left, numbers to the right, all columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    for i, (name, *cells) in enumerate(rows):
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        yield f"| {' | '.join([name.ljust(widths[0]), *numbers])} |"
        if i == 0:
            yield f"|{rule}|"
