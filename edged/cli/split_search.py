"""Where to cut a network: every order of the workers and every place, by dynamic programming.

A pipeline is as quick as its slowest stage, and a frame takes what all stages take together. PipeDream partitions
networks so (Harlap et al., 2018, https://arxiv.org/abs/1806.03377).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

SLACK = 1.01  # of two throughputs that differ by less, the one with the better latency is better


@dataclass(frozen=True, slots=True)
class Stage:
    """What lies between two places of the network, which are numbered from 0, on a unit: a worker, or a group."""

    unit: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a job: from one to the next at best, and from its arrival to its answer where it is alone."""

    period_s: float
    latency_s: float


Split = tuple[Stage, ...]
Costs = Callable[[Stage], Cost]


def together(stages: Sequence[Cost]) -> Cost:
    """What a job takes in a pipeline of stages that cost so much."""
    return Cost(max(cost.period_s for cost in stages), sum(cost.latency_s for cost in stages))


def total(split: Split, costs: Costs) -> Cost:
    """The same for a split."""
    return together([costs(stage) for stage in split])


def best_for_latency(units: int, last: int, costs: Costs) -> Split:
    """The split of the places 0 … `last` over at least two of the units that answers a frame soonest."""
    return _least(units, last, lambda stage: costs(stage).latency_s, lambda one, rest: one + rest)


def best_for_throughput(units: int, last: int, costs: Costs) -> Split:
    """The same for most jobs a second, and of those that hardly differ the one that answers soonest."""
    quickest = _least(units, last, lambda stage: costs(stage).period_s, max)
    limit_s = SLACK * total(quickest, costs).period_s

    def latency_s(stage: Stage) -> float:
        cost = costs(stage)
        return cost.latency_s if cost.period_s <= limit_s else float("inf")

    return _least(units, last, latency_s, lambda one, rest: one + rest)


def _least(
    units: int, last: int, seconds: Callable[[Stage], float], joined: Callable[[float, float], float]
) -> Split:
    """The split whose stages' `seconds`, `joined` from the last one on, are least."""

    @cache
    def rest(begin: int, free: frozenset[int]) -> tuple[float, Split]:
        """The best way from `begin` to the end with some of the units that are `free`."""
        ways: list[tuple[float, Split]] = []
        for unit in sorted(free):
            if begin:
                whole = Stage(unit, begin, last)
                ways.append((seconds(whole), (whole,)))
            for end in range(begin + 1, last if len(free) > 1 else 0):
                stage = Stage(unit, begin, end)
                after_s, after = rest(end, free - {unit})
                ways.append((joined(seconds(stage), after_s), (stage, *after)))
        return min(ways, key=lambda way: way[0])

    return rest(0, frozenset(range(units)))[1]
