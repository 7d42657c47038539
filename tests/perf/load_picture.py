"""What `hub_load --json FILE` has measured, as a picture: `python -m tests.perf.load_picture FILE > load.svg`."""

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from edged.cli.chart import COLORS, Axis, Chart

NOTE = (
    "Link × workers; dashed: all that is offered. A dot's text names the ages, the processor time and the memory."
)


def picture(rows: list[dict[str, Any]]) -> str:
    """SVG: what was published over what was offered, a line for each transport and number of workers."""
    offered = [_offered(row) for row in rows]
    low, high = min(offered) / 2, max(offered) * 2
    chart = Chart(
        "What the hub bears",
        "cameras at 30 frames a second, workers that answer at once",
        Axis("frames a second, offered", low, high),
        Axis("frames a second, predicted and published", low, high),
    )
    chart.line([(low, low), (high, high)], "#999", dashed=True)
    names = dict(zip(dict.fromkeys(map(_name, rows)), COLORS, strict=False))
    for name, of_one in groupby(sorted(rows, key=lambda row: (_name(row), _offered(row))), _name):
        points = list(of_one)
        chart.line([(_offered(row), row["fps"]) for row in points], names[name])
        for row in points:
            chart.dot((_offered(row), row["fps"]), names[name], _tooltip(row))
    chart.legend(names, NOTE)
    return chart.svg()


def _offered(row: dict[str, Any]) -> float:
    return float(row["load"]["cameras"] * row["load"]["fps"])


def _name(row: dict[str, Any]) -> str:
    return f"{'CURVE' if row['load']['curve'] else 'ipc'} × {row['load']['workers']}"


def _tooltip(row: dict[str, Any]) -> str:
    lines = (
        f"{row['load']['cameras']} cameras, {_name(row)} workers: {row['fps']:.0f} frames/s",
        f"age {row['p50_ms']:.1f} ms (p99 {row['p99_ms']:.1f} ms)",
        f"{row['cpu_us']:.0f} µs a frame, {row['rss_mb']:.0f} MB",
    )
    return "\n".join(lines)


if __name__ == "__main__":
    print(picture([json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]))
