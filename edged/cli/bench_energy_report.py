"""What `edged bench --energy` adds to its table and to its object."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from edged.cli.bench_accuracy import Accuracy
from edged.cli.bench_energy import Consumption, Energy

HEAD = f"{'J a frame':>12}{'W':>8}{'right':>9}"
UNKNOWN = "not known: give --images FOLDER with a sub-folder for each label of the model"

Report = Mapping[str, Any]


def energy_and_accuracy(energy: Energy, plan: Consumption, accuracy: Accuracy | None) -> dict[str, Any]:
    """Of one variant. `above_idle`: joules of a frame, less what its rails would have drawn anyway."""
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


def columns(row: Report) -> str:
    """The end of a variant's line, below `HEAD`; nothing where energy was not asked for."""
    if "energy" not in row:
        return ""
    joules, watts = (_number(row["energy"][key]) for key in ("joules", "watts"))
    accuracy = row["accuracy"]
    right = f"{accuracy['right'] / accuracy['frames']:.1%}" if accuracy else "–"
    return f"{joules:>12}{watts:>8}{right:>9}"


def footnotes(rows: Sequence[Report]) -> list[str]:
    """How joules and labels are known, or why they are not."""
    first = rows[0]
    if "energy" not in first:
        return []
    energy, accuracy = first["energy"], first["accuracy"]
    parts = [energy["method"], ", ".join(energy["rails"]), energy["note"]]
    if energy["method"] == "estimated":  # as its note says
        parts = [energy["note"]]
    lines = [f"energy: {'; '.join(filter(None, parts))}"]
    if energy["idle_watts"] is not None:
        above = [f"{_number(row['energy']['above_idle'])} ({row['conv']})" for row in rows]
        lines.append(f"above the {_number(energy['idle_watts'])} W while idle: {', '.join(above)} J a frame")
    unknown = "not known: its weights are random" if first["random_weights"] else UNKNOWN
    right = f"{accuracy['right']} of {accuracy['frames']} {accuracy['source']}" if accuracy else unknown
    return [*lines, f"right: {right}"]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
