"""The figures of a plan as tables for readers, and as JSON for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.mali.gpus import MIDGARD, Gpu
from tools.mali.launches import CompiledLaunch, MaliPlan
from tools.mali.statistics import Statistics
from tools.reproduce.table import table

REGISTERS_OF = {1: "≤ 64", 2: "≤ 32"}  # of a work-item by occupancy, on Bifrost and Valhall
MODEL = """\
Units, registers, spills and bytes in memory (arrays and spilled registers) are of one work-item, each loop counted
once. Mcycles: those of the busiest unit, what is inside the innermost loops × passes, × work-items ÷ cores.
Left out: how long memory and caches take, and what waits for them; units that hinder each other; launches
themselves; the host. Loops that clear halos, and that sum over a group, count as one pass. A load or store costs a
cycle for each work-item: hardware serves neighbours together, so that column is the worst case."""
MODEL_OF_MIDGARD = """\
On Midgard a bundle counts as a cycle of a core: its pipes work side by side, so it may take less."""


@dataclass(frozen=True)
class Row:
    """Equal launches of a plan: the first one, and how many there are."""

    first: CompiledLaunch
    times: int

    @property
    def cycles(self) -> float:
        return self.times * self.first.cost.busiest if self.first.cost else 0.0


@dataclass(frozen=True)
class Report:
    """A network on a GPU."""

    model: str
    gpu: Gpu
    plan: MaliPlan
    launches: tuple[CompiledLaunch, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the launches with equal ones together, in the order of the first of each."""
        equal: dict[Any, list[CompiledLaunch]] = {}
        for each in self.launches:
            one = each.launch
            equal.setdefault((one.kernel, one.options, one.global_size(1)), []).append(each)
        return tuple(Row(same[0], len(same)) for same in equal.values())

    @property
    def cycles(self) -> float:
        """Return the cycles of a core for a frame, of the busiest unit in each launch."""
        return sum(row.cycles for row in self.rows)

    def sums(self) -> dict[str, float]:
        """Return the cycles of a core for a frame by unit."""
        costs = [each.cost for each in self.launches if each.cost]
        return {unit: sum(cost.cycles[unit] for cost in costs) for unit in self.gpu.architecture.units}

    def text(self) -> str:
        """Return the table by launch, the sums, and what is wrong."""
        units, device = self.gpu.architecture.units, self.plan.device
        title = f"{self.model} on {device.name}, {device.compute_units} cores, Mesa {device.driver}"
        head = ["launch", "times", "kernel", "parameters", "group", "work-items", "passes", *units.values()]
        head += ["registers", "occupancy", "spills:fills", "in memory", "largest group", "Mcycles", "share"]
        shown = table(head, [self._line(row) for row in self.rows])
        by_unit = ", ".join(f"{units[unit]} {cycles / 1e6:.2f}" for unit, cycles in self.sums().items())
        total = f"Mcycles of a core a frame: {self.cycles / 1e6:.2f} (by unit: {by_unit})"
        return "\n".join(["", title, "", shown, "", total, *findings(self.launches), *self._unknown()])

    def _line(self, row: Row) -> list[str]:
        one, found, cost = row.first.launch, row.first.compiled.statistics, row.first.cost
        what = [one.operator, str(row.times), one.kernel, row.first.parameters]
        size = [str(one.group), f"{_items(row.first)}"]
        if found is None or cost is None:
            return [*what, *size, *["–"] * (8 + len(self.gpu.architecture.units))]
        static = [f"{found.counts[unit]:.1f}" for unit in self.gpu.architecture.units]
        kept = [registers_of(found), str(found.threads), f"{found.spills}:{found.fills}"]
        kept.append(str(row.first.compiled.private_bytes))
        share = f"{100 * row.cycles / max(self.cycles, 1e-9):.1f} %"
        passes = "?" if cost.passes is None else str(cost.passes)
        limit = str(row.first.compiled.largest_group)
        return [*what, *size, passes, *static, *kept, limit, f"{row.cycles / 1e6:.3f}", share]

    def _unknown(self) -> list[str]:
        unknown = sorted({each.launch.kernel for each in self.launches if each.cost and each.cost.passes is None})
        lines = [f"loops of unknown length, counted once: {', '.join(unknown)}"] if unknown else []
        on_host = self.plan.on_host
        return lines + ([f"computed by the host, not counted: {', '.join(on_host)}"] if on_host else [])

    def as_json(self) -> dict[str, Any]:
        """Return all of it as values of JSON."""
        device = self.plan.device
        return {
            "model": self.model,
            "gpu": self.gpu.name,
            "device": device.name,
            "driver": device.driver,
            "cores": device.compute_units,
            "launches": [_as_json(each) for each in self.launches],
            "cycles_by_unit": self.sums(),
            "cycles": self.cycles,
            "findings": findings(self.launches),
            "on_host": list(self.plan.on_host),
        }


def findings(launches: Sequence[CompiledLaunch]) -> list[str]:
    """Return what is wrong with launches: kernels that failed, groups that are too large, registers that spill."""
    failed = [each for each in launches if each.compiled.statistics is None]
    large = [each for each in launches if not each.fits]
    spilled = [each for each in launches if each.spills]
    lines = [f"failed: {each.launch.kernel} of {each.launch.operator}: {each.compiled.failure}" for each in failed]
    lines += [
        f"group too large: {each.launch.kernel} of {each.launch.operator} has {each.launch.group} work-items, "
        f"its registers allow {each.compiled.largest_group}; edged compiles it again with half the group"
        for each in large
    ]
    if spilled:
        worst = max(spilled, key=lambda each: _memory_accesses(each.compiled.statistics))
        lines.append(
            f"registers spill: {len(spilled)} of {len(launches)} launches, most in {worst.launch.kernel} of "
            f"{worst.launch.operator}"
        )
    return lines


def explanation(gpus: Sequence[Gpu]) -> str:
    """Return what the figures are, and what they leave out."""
    return "\n".join([MODEL, *([MODEL_OF_MIDGARD] if any(gpu.architecture is MIDGARD for gpu in gpus) else [])])


def registers_of(found: Statistics) -> str:
    """Return the registers of a work-item; the most that its occupancy allows where Mesa prints no number."""
    return str(found.registers) if found.registers is not None else REGISTERS_OF[found.threads]


def _memory_accesses(found: Statistics | None) -> int:
    return found.spills + found.fills if found else 0


def _items(each: CompiledLaunch) -> int:
    items, *others = each.launch.global_size(1)
    return items * others[0] * others[1]


def _as_json(each: CompiledLaunch) -> Mapping[str, Any]:
    found, cost = each.compiled.statistics, each.cost
    return {
        "operator": each.launch.operator,
        "kernel": each.launch.kernel,
        "parameters": each.parameters,
        "group": each.launch.group,
        "work_items": _items(each),
        "largest_group": each.compiled.largest_group or None,
        "failure": each.compiled.failure or None,
        "passes": cost.passes if cost else None,
        "cycles": dict(cost.cycles) if cost else None,
        "counts": dict(found.counts) if found else None,
        "private_bytes": each.compiled.private_bytes,
        "spills": found.spills if found else None,
        "fills": found.fills if found else None,
    }
