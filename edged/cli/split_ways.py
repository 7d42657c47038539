"""The ways to run one network on the workers that there are: one alone, all side by side, or split."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

from edged.cli.split_costs import Unit
from edged.cli.split_search import Cost, Split, Stage, best_for_latency, best_for_throughput, together, total
from edged.messages import Place


@dataclass(frozen=True, slots=True)
class Part:
    """What some workers do: the network between two places; None: from the images, to the scores."""

    unit: str
    workers: tuple[str, ...]
    begin: str | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """Its parts in order, and what is to be expected of it."""

    title: str
    parts: tuple[Part, ...]
    predicted: Cost

    @property
    def workers(self) -> tuple[str, ...]:
        """Those of all parts."""
        return tuple(name for part in self.parts for name in part.workers)


class Ways:
    """All that is worth a look. Every unit was measured at the same places, from the images to the scores."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = tuple(units)
        self.places: tuple[Place, ...] = units[0].abilities[0].measured.places
        self._last = len(self.places) - 1
        self._costs: dict[Stage, Cost] = {}
        self._abilities = {name: ability for unit in units for name, ability in unit.each()}

    @cached_property
    def unsplit(self) -> list[Way]:
        """Each unit alone with the whole network, and all of them side by side."""
        alone = [self._whole(f"{unit.name} alone", unit) for unit in self.units]
        workers = tuple(name for unit in self.units for name in unit.workers)
        abilities = tuple(ability for unit in self.units for ability in unit.abilities)
        return [*alone, self._whole("side by side, unsplit", Unit("all", workers, abilities))]

    @cached_property
    def split(self) -> list[Way]:
        """The best for throughput, and for latency where that is another one."""
        units, last = len(self.units), self._last
        quick, soon = best_for_throughput(units, last, self._cost), best_for_latency(units, last, self._cost)
        if quick == soon:
            return [self._way("split, best throughput and latency", quick)]
        return [self._way("split, best throughput", quick), self._way("split, best latency", soon)]

    def again(self, way: Way) -> Way:
        """The same way, and what is to be expected of it by what was measured here."""
        places = [place.after for place in self.places[:-1]]
        each = [
            Unit("", part.workers, tuple(self._abilities[name] for name in part.workers)).cost(
                places.index(part.begin), places.index(part.end) if part.end else self._last
            )
            for part in way.parts
        ]
        return replace(way, predicted=together(each))

    def at(self, place: int) -> Cost:
        """What two units give at best with a single cut there, for throughput."""
        splits = [
            (Stage(first, 0, place), Stage(second, place, self._last))
            for first, second in permutations(range(len(self.units)), 2)
        ]
        return min((total(split, self._cost) for split in splits), key=lambda cost: cost.period_s)

    def _cost(self, stage: Stage) -> Cost:
        if stage not in self._costs:
            self._costs[stage] = self.units[stage.unit].cost(stage.begin, stage.end)
        return self._costs[stage]

    def _whole(self, title: str, unit: Unit) -> Way:
        return Way(title, (Part(unit.name, unit.workers),), unit.cost(0, self._last))

    def _way(self, title: str, split: Split) -> Way:
        parts = [
            Part(
                self.units[stage.unit].name,
                self.units[stage.unit].workers,
                self.places[stage.begin].after,
                self.places[stage.end].after,
            )
            for stage in split
        ]
        return Way(title, tuple(parts), total(split, self._cost))
