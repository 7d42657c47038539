"""Find the best way to run one network on several workers: one alone, all in parallel, or split.

Cuts: every order of the workers and every place, by dynamic programming. A pipeline is as fast as its slowest
stage, and a frame takes the sum of all stages. PipeDream partitions networks so (Harlap et al., 2018,
https://arxiv.org/abs/1806.03377). A stage costs the worker's measured time and that of the link to it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import permutations
from statistics import fmean

from edged.messages import CutPoint, MeasureAnswer

SLACK = 1.01  # of two throughputs that differ by less, the one with lower latency wins


@dataclass(frozen=True, slots=True)
class Stage:
    """The network between two places, numbered from 0, on one unit: a worker, or a group."""

    unit: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a job: the period between jobs at full load, and the latency of a single one."""

    period_s: float
    latency_s: float


Split = tuple[Stage, ...]
Costs = Callable[[Stage], Cost]


def together(stages: Sequence[Cost]) -> Cost:
    """Return the cost of a pipeline of stages with these costs."""
    return Cost(max(cost.period_s for cost in stages), sum(cost.latency_s for cost in stages))


def total(split: Split, costs: Costs) -> Cost:
    """Return the cost of a split."""
    return together([costs(stage) for stage in split])


def best_for_latency(units: int, last: int, costs: Costs) -> Split:
    """Find the split of the places 0 … `last` over at least two of the units with the lowest latency."""
    return _least(units, last, lambda stage: costs(stage).latency_s, lambda one, rest: one + rest)


def best_for_throughput(units: int, last: int, costs: Costs) -> Split:
    """Find the split with the highest throughput; of nearly equal ones, the one with the lowest latency."""
    quickest = _least(units, last, lambda stage: costs(stage).period_s, max)
    limit_s = SLACK * total(quickest, costs).period_s

    def latency_s(stage: Stage) -> float:
        cost = costs(stage)
        return cost.latency_s if cost.period_s <= limit_s else float("inf")

    return _least(units, last, latency_s, lambda one, rest: one + rest)


def _least(
    units: int, last: int, seconds: Callable[[Stage], float], joined: Callable[[float, float], float]
) -> Split:
    """Find the split with the least total of `seconds` per stage; `joined` adds them up from the last stage on."""

    @cache
    def rest(begin: int, free: frozenset[int]) -> tuple[float, Split]:
        """Return the best split from `begin` to the end over some of the `free` units."""
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


@dataclass(frozen=True, slots=True)
class LinkSpeed:
    """Speed of the link between hub and worker: seconds of an empty round trip, and of each further byte.

    `message_s`: from one empty answer to the next with many in flight: the work of both ends for each message.
    """

    round_trip_s: float
    out_s_per_byte: float
    back_s_per_byte: float
    message_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Ability:
    """The measurements of one worker."""

    measured: MeasureAnswer
    link: LinkSpeed

    def cost(self, begin: int, end: int) -> Cost:
        """Return the cost of a job from the tensor at place `begin` to the one at place `end`.

        With one more job in hand, the link transfers while the device computes.
        """
        first, last = self.measured.cut_points[begin], self.measured.cut_points[end]
        compute_s, ends_s = max(0.0, last.reached_s - first.reached_s), first.receive_s + last.send_s
        out_s = first.nbytes * self.link.out_s_per_byte
        back_s = last.nbytes * self.link.back_s_per_byte
        host_s = ends_s + self.link.message_s
        busy_s = max(compute_s, host_s) if self.measured.overlaps else compute_s + host_s
        return Cost(
            period_s=max(busy_s, out_s, back_s),
            latency_s=self.link.round_trip_s + out_s + compute_s + ends_s + back_s,
        )


@dataclass(frozen=True, slots=True)
class Unit:
    """One worker, or the workers of a group, which share the jobs. `name`: the group's, or its only worker's."""

    name: str
    workers: tuple[str, ...]
    abilities: tuple[Ability, ...]

    def each(self) -> Iterator[tuple[str, Ability]]:
        """Yield the names of the workers with their measurements."""
        return zip(self.workers, self.abilities, strict=True)

    def cost(self, begin: int, end: int) -> Cost:
        """Return the cost on all workers: their throughputs add up; a single job may run on any of them."""
        each = [ability.cost(begin, end) for ability in self.abilities]
        return Cost(1 / sum(1 / cost.period_s for cost in each), fmean(cost.latency_s for cost in each))


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """What some workers run: the network between two places; None: from the images, to the scores."""

    unit: str
    workers: tuple[str, ...]
    begin: str | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run the network: its parts in order, and the predicted cost."""

    title: str
    parts: tuple[PlannedPart, ...]
    predicted: Cost

    @property
    def workers(self) -> tuple[str, ...]:
        """Return the workers of all parts."""
        return tuple(name for part in self.parts for name in part.workers)


class Ways:
    """Lists the ways to compare. Every unit was measured at the same places, from the images to the scores."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = tuple(units)
        self.cut_points: tuple[CutPoint, ...] = units[0].abilities[0].measured.cut_points
        self._last = len(self.cut_points) - 1
        self._costs: dict[Stage, Cost] = {}
        self._abilities = {name: ability for unit in units for name, ability in unit.each()}

    @cached_property
    def unsplit(self) -> list[Way]:
        """Yield each unit alone with the whole network, and all of them side by side."""
        alone = [self._whole(f"{unit.name} alone", unit) for unit in self.units]
        workers = tuple(name for unit in self.units for name in unit.workers)
        abilities = tuple(ability for unit in self.units for ability in unit.abilities)
        return [*alone, self._whole("side by side, unsplit", Unit("all", workers, abilities))]

    @cached_property
    def split(self) -> list[Way]:
        """Yield the split with the best throughput, and the one with the best latency if it differs."""
        units, last = len(self.units), self._last
        quick, soon = best_for_throughput(units, last, self._cost), best_for_latency(units, last, self._cost)
        if quick == soon:
            return [self._way("split, best throughput and latency", quick)]
        return [self._way("split, best throughput", quick), self._way("split, best latency", soon)]

    def again(self, way: Way) -> Way:
        """Return the same way with the cost that these measurements predict."""
        names = [point.after for point in self.cut_points[:-1]]
        each = [
            Unit("", part.workers, tuple(self._abilities[name] for name in part.workers)).cost(
                names.index(part.begin), names.index(part.end) if part.end else self._last
            )
            for part in way.parts
        ]
        return replace(way, predicted=together(each))

    def at(self, index: int) -> Cost:
        """Return the best throughput of two units with a single cut at this cut point."""
        splits = [
            (Stage(first, 0, index), Stage(second, index, self._last))
            for first, second in permutations(range(len(self.units)), 2)
        ]
        return min((total(split, self._cost) for split in splits), key=lambda cost: cost.period_s)

    def _cost(self, stage: Stage) -> Cost:
        if stage not in self._costs:
            self._costs[stage] = self.units[stage.unit].cost(stage.begin, stage.end)
        return self._costs[stage]

    def _whole(self, title: str, unit: Unit) -> Way:
        return Way(title, (PlannedPart(unit.name, unit.workers),), unit.cost(0, self._last))

    def _way(self, title: str, split: Split) -> Way:
        parts = [
            PlannedPart(
                self.units[stage.unit].name,
                self.units[stage.unit].workers,
                self.cut_points[stage.begin].after,
                self.cut_points[stage.end].after,
            )
            for stage in split
        ]
        return Way(title, tuple(parts), total(split, self._cost))
