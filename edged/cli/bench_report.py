"""What `edged bench` prints: a table for people, one JSON object for programs."""

import json
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from edged.cli.bench_energy_report import HEAD, columns, footnotes
from edged.cli.bench_error import Errors
from edged.cli.bench_timing import Timing
from edged.config import Precision
from edged.model.cost import macs
from edged.model.package import Model
from edged.worker.runtime import ModelRuntime

Report = dict[str, Any]


def report(
    model: Model, variant: str, precision: Precision, runtime: ModelRuntime, batch: int, timing: Timing
) -> Report:
    """One variant's figures. `size` is as in the config: one number for a square; `macs` counts one frame."""
    width, height = model.input.width, model.input.height
    return {
        "model": model.name,
        "random_weights": model.random_weights,
        "preparation": model.input.described,
        "prepared_by": model.prepared_by,
        "size": width if width == height else [width, height],
        "macs": macs(model.graph),
        "batch": batch,
        "device": runtime.device_name,
        "precision": precision,
        "conv": variant,
        "runs": len(timing.seconds),
        "seconds": {
            "median": statistics.median(timing.seconds),
            "min": min(timing.seconds),
            "p99": float(np.percentile(timing.seconds, 99)),
        },
        "host_seconds": statistics.median(timing.host_seconds),
        "kernels": runtime.kernels,
    }


def as_json(reports: Sequence[Report], errors: Errors | None = None) -> str:
    """The first report; in it the second, if there is one, as `compared`, and its errors as `error`."""
    first, *others = reports
    compared = {"compared": others[0]} if others else {}
    error = {"error": errors.as_object()} if errors else {}
    return json.dumps(first | compared | error)


def as_table(reports: Sequence[Report]) -> str:
    """A heading, a line a variant, and how they compare."""
    first, *others = reports
    size = first["size"]
    width, height = size if isinstance(size, list) else (size, size)
    lines = [
        f"{first['model']} {width}×{height}, batch {first['batch']}, {first['macs'] / 1e6:.1f} MMAC a frame, "
        f"{first['precision']}, on {first['device']}",
        f"{'convolution':12}{'median':>12}{'min':>12}{'p99':>12}{'host':>12}{'GMAC/s':>9}{'kernels':>9}{'runs':>6}"
        + (HEAD if "energy" in first else ""),
        *map(_line, reports),
    ]
    for other in others:
        times = other["seconds"]["median"] / first["seconds"]["median"]
        lines.append(f"{other['conv']} takes {times:.1f} times as long as {first['conv']}")
    return "\n".join([*lines, *footnotes(reports)])


def _line(row: Report) -> str:
    seconds = [*row["seconds"].values(), row["host_seconds"]]
    speed = row["macs"] * row["batch"] / row["seconds"]["median"] / 1e9
    times = "".join(f"{value * 1e3:9.2f} ms" for value in seconds)
    return f"{row['conv']:12}{times}{speed:9.1f}{row['kernels']:9}{row['runs']:6}{columns(row)}"
