"""Format the results of `edged bench`: tables for people, one JSON object for programs."""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from edged.arithmetic import median_and_p99, quartiles
from edged.cli.bench.accuracy import Accuracy
from edged.cli.bench.energy import Consumption, Energy
from edged.cli.bench.timing import Timing
from edged.config import Precision
from edged.model.cost import macs
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.system.machine_state import ANY, LEFT_OUT, Account

HEAD = f"{'J a frame':>10}{'W':>7}{'right':>7}"
UNKNOWN = "not known: give --images FOLDER with a sub-folder for each label of the model"

EnergyReport = Mapping[str, Any]


def energy_and_accuracy(energy: Energy, plan: Consumption, accuracy: Accuracy | None) -> dict[str, Any]:
    """Build the energy and accuracy of one variant.

    `above_idle`: joules per frame, minus what its rails draw when idle.
    """
    above_idle = None
    if plan.joules is not None and energy.idle_watts is not None:
        above_idle = (plan.joules - energy.idle_watts * plan.seconds) / plan.frames
    return {
        "energy": {
            "joules": plan.joules_each,
            "above_idle": above_idle,
            "watts": plan.watts,
            "idle_watts": energy.idle_watts,
            "method": energy.method if plan.joules is not None else "none",
            "rails": energy.rails,
            "note": energy.note,
        },
        "accuracy": asdict(accuracy) if accuracy else None,
    }


def columns(row: EnergyReport) -> str:
    """Format the last columns of a variant's line, below `HEAD`; empty if energy was not requested."""
    if "energy" not in row:
        return ""
    joules, watts = (_number(row["energy"][key]) for key in ("joules", "watts"))
    accuracy = row["accuracy"]
    right = f"{accuracy['right'] / accuracy['frames']:.1%}" if accuracy else "–"
    return f"{joules:>10}{watts:>7}{right:>7}"


def footnotes(rows: Sequence[EnergyReport]) -> list[str]:
    """Explain how joules and labels are known, or why they are not."""
    first = rows[0]
    if "energy" not in first:
        return []
    energy, accuracy = first["energy"], first["accuracy"]
    parts = [energy["method"], ", ".join(energy["rails"]), energy["note"]]
    if energy["method"] == "estimated":  # given by its note
        parts = [energy["note"]]
    lines = [f"energy: {'; '.join(filter(None, parts))}"]
    if energy["idle_watts"] is not None:
        above = [f"{_number(row['energy']['above_idle'])} ({row['conv']})" for row in rows]
        lines.append(f"above the {_number(energy['idle_watts'])} W while idle: {', '.join(above)} J a frame")
    if by_precision := first.get("by_precision"):
        lines.append(f"by precision, J a frame: {', '.join(map(_in_precision, by_precision.items()))}")
    unknown = "not known: its weights are random" if first["random_weights"] else UNKNOWN
    right = f"{accuracy['right']} of {accuracy['frames']} {accuracy['source']}" if accuracy else unknown
    return [*lines, f"right: {right}"]


def _in_precision(named: tuple[str, EnergyReport]) -> str:
    precision, found = named
    accuracy = found["accuracy"]
    right = f" ({accuracy['right'] / accuracy['frames']:.1%} right)" if accuracy else ""
    return f"{precision} {_number(found['energy']['joules'])}{right}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


Report = dict[str, Any]


def report(
    model: Model,
    variant: str,
    precision: Precision,
    runtime: ModelRuntime,
    batch: int,
    timing: Timing,
    account: Account,
) -> Report:
    """Build the result of one variant. `size` as in the config: one number for a square. `macs`: of one frame.

    The figures are of the runs that count; `states` has those of each state.
    """
    width, height = model.input.width, model.input.height
    states = {state: _of_state(timing, state) for state in account.runs if state in timing.states}
    machine = account.as_object()
    timing = timing.those(account.counts)
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
        "seconds": _seconds(timing),
        "machine": machine,
        "states": states,
        "host_seconds": statistics.median(timing.host_seconds),
        "kernels": runtime.kernels,
    }


def _seconds(timing: Timing) -> dict[str, Any]:
    middle, p99 = median_and_p99(timing.seconds)
    low, _, high = quartiles(timing.seconds)
    return {"median": middle, "min": min(timing.seconds), "p99": p99, "quartiles": [low, high]}


def _of_state(timing: Timing, state: str) -> dict[str, Any]:
    low, middle, high = quartiles((of_state := timing.those(state.__eq__)).seconds)
    return {"runs": len(of_state.seconds), "median": middle, "quartiles": [low, high]}


def as_json(reports: Sequence[Report]) -> str:
    """Return the first report for JSON, with the second as `compared`."""
    first, *others = reports
    compared = {"compared": others[0]} if others else {}
    return json.dumps(first | compared)


def as_table(reports: Sequence[Report], account: Account) -> str:
    """Format a heading, a line for each variant, their ratio, and the state of the machine with other states."""
    first, *others = reports
    size = first["size"]
    width, height = size if isinstance(size, list) else (size, size)
    times = "".join(f"{name:>11}" for name in _times(first))
    lines = [
        f"{first['model']} {width}×{height}, batch {first['batch']}, {first['macs'] / 1e6:.1f} MMAC a frame, "
        f"{first['precision']}, on {first['device']}",
        f"{'convolution':12}{times}{'GMAC/s':>8}{'kernels':>8}{'runs':>6}" + (HEAD if "energy" in first else ""),
        *map(_line, reports),
    ]
    for other in others:
        ratio = other["seconds"]["median"] / first["seconds"]["median"]
        lines.append(f"{other['conv']} takes {ratio:.1f} times as long as {first['conv']}")
    return "\n".join([*lines, *footnotes(reports), str(account), *_quartiles(reports, account)])


def _quartiles(reports: Sequence[Report], account: Account) -> Iterator[str]:
    """Format the middle half of the runs of each state that is no accident, for each variant."""
    for row in reports:
        for state, figures in row["states"].items():
            if state not in LEFT_OUT or account.state is None:
                low, high = (value * 1e3 for value in figures["quartiles"])
                median, where = figures["median"] * 1e3, "" if state == ANY else f", {state}"
                yield (
                    f"{row['conv']}{where}: {median:.2f} ms ({low:.2f} to {high:.2f}), "
                    f"median and quartiles of {figures['runs']}"
                )


def _times(row: Report) -> dict[str, float]:
    """Return the times to print: fewer where columns of energy follow."""
    times = {**row["seconds"], "host": row["host_seconds"]}
    return {
        name: times[name] for name in (("median", "p99") if "energy" in row else ("median", "min", "p99", "host"))
    }


def _line(row: Report) -> str:
    speed = row["macs"] * row["batch"] / row["seconds"]["median"] / 1e9
    times = "".join(f"{value * 1e3:8.2f} ms" for value in _times(row).values())
    return f"{row['conv']:12}{times}{speed:8.1f}{row['kernels']:8}{row['runs']:6}{columns(row)}"
