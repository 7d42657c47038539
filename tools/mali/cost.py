"""Estimate the cycles that a launch keeps the units of a GPU busy."""

from collections.abc import Mapping
from dataclasses import dataclass

from edged.arithmetic import ceil_div
from edged.engine.launch import Launch
from tools.mali.gpus import Architecture
from tools.mali.loops import known_loops
from tools.mali.statistics import Statistics


@dataclass(frozen=True)
class Cost:
    """Cycles of one core by unit for a frame, with all cores at work.

    `passes`: how often the innermost loops run; None where nothing is known of the loops: each was counted once.
    """

    cycles: Mapping[str, float]
    passes: int | None

    @property
    def busiest(self) -> float:
        return max(self.cycles.values())


def cost_of(
    launch: Launch, whole: Statistics, without: Statistics | None, architecture: Architecture, cores: int
) -> Cost:
    """Estimate the cost of a launch for a frame.

    `whole`: of its kernel; `without`: of the same without its inner loops, if it can be compiled so; if not, all
    of it counts as inside, which is the most that it may be. A group takes whole sets of lanes: one of a single
    work-item takes as long as one that fills them.
    """
    loops, left = known_loops(launch), without.loops if without else whole.loops
    removed = whole.loops - (without.loops if without else 0)
    around, inner = loops.passes(left, removed) if loops else (1, 1)
    share = around * architecture.cycles * occupied_items(launch, architecture.lanes) / cores
    cycles = {unit: share * _of_an_item(unit, whole, without, inner) for unit in architecture.units}
    return Cost(cycles, around * inner if loops or whole.loops == 0 else None)


def occupied_items(launch: Launch, lanes: int) -> int:
    """Return the work-items of a frame, with those that stay idle beside a group that does not fill the lanes."""
    items, *others = launch.global_size(1)
    groups = ceil_div(items, launch.group) * others[0] * others[1]
    return groups * ceil_div(launch.group, lanes) * lanes


def _of_an_item(unit: str, whole: Statistics, without: Statistics | None, passes: int) -> float:
    if without is None:
        return whole.counts[unit] * passes
    outside = min(without.counts[unit], whole.counts[unit])
    return outside + (whole.counts[unit] - outside) * passes
