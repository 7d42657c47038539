"""What was measured as a Markdown table that a terminal shows well too."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.peers.contenders import NOTES, YARDSTICK
from bench.peers.rounds import Kept, figures, states
from bench.quartiles import FEWEST, Quartiles, left_out, states_of

COLUMNS = ("", "state", "median ms", "quartiles", "frames/s", f"÷ {YARDSTICK}", "quartiles", "turns", "error")

EXPLANATION = (
    "A row is the wall time of a job from host memory to host memory, in the turns of one state of the machine.",
    "edged takes uint8 images and prepares them on the device; the peers are given the prepared float32 images.",
    "Every contender has a process of its own. Ratios are of the same round and the same state.",
    "Error: largest difference from the NumPy reference in float64, as a share of the scores' range.",
)


def heading(machine: Mapping[str, str]) -> str:
    """Describe the machine, and how to read what follows."""
    lines = [f"- {name}: {value}" for name, value in machine.items()]
    return "\n".join(["# edged and its peers", "", *lines, "", *EXPLANATION]) + "\n"


def section(measured: Mapping[str, Any]) -> str:
    """One case with one number of threads."""
    title = f"## {measured['case']}, {_threads(measured['threads'])}"
    cost = f"{measured['flops'] / 2e6:.0f} MMAC and {measured['weight_bytes'] / 1e6:.1f} MB of weights a job"
    rows: Sequence[Kept] = measured["contenders"]
    yardstick = next((row for row in rows if row["name"] == YARDSTICK), None)
    batch = measured["batch"]
    cells = [_row(row, yardstick, state, batch) for state in states_of(states(rows)) for row in rows]
    gone = ", ".join(f"{state} {count}" for state, count in left_out(states(rows)).items())
    notes = [f"- {row['name']}: {note}" for row in rows if (note := _note(row))]
    table = [*as_markdown([COLUMNS, *cells]), ""] if cells else [f"No state had {FEWEST} turns.", ""]
    return "\n".join([title, "", f"{cost}. Turns that were left out: {gone}.", "", *table, *notes, ""])


def _threads(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def _row(row: Kept, yardstick: Kept | None, state: str, batch: int) -> tuple[str, ...]:
    found = figures(row, yardstick, state)
    if found is None:
        return row["name"], state, "not run" if "missing" in row else "too few", *[""] * (len(COLUMNS) - 3)
    error = row.get("error")
    return (
        row["name"],
        state,
        f"{found.ms.median:.2f}",
        _quartiles(found.ms),
        f"{1e3 * batch / found.ms.median:.1f}",
        f"{found.ratio.median:.2f}" if found.ratio else "",
        _quartiles(found.ratio) if found.ratio else "",
        str(found.ms.count),
        "" if error is None else f"{error:.0e}",
    )


def _quartiles(values: Quartiles) -> str:
    return f"{values.low:.2f} {values.high:.2f}"


def _note(row: Kept) -> str:
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
