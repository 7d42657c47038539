"""What else edged's tuner would try for each layer, compiled and ranked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from edged.engine.launch import Launch
from edged.engine.selection import Choice, candidates
from edged.engine.shape import Shape, shape_of
from edged.engine.tuning.tuner import PATIENCE
from edged.engine.variants.variant import Site
from tools.mali.gpus import Gpu
from tools.mali.launches import CompiledLaunch, MaliPlan, parameters_of, programs_of, with_answers
from tools.mali.report import registers_of
from tools.mali.root import Program, Root
from tools.reproduce.table import table


@dataclass(frozen=True)
class Neighbour:
    """A candidate for a layer, compiled. `is_chosen`: it is what the plan has."""

    choice: Choice
    launches: tuple[CompiledLaunch, ...]
    is_chosen: bool

    @property
    def cycles(self) -> float | None:
        """Return the cycles of a core for a frame; None if a kernel failed."""
        costs = [each.cost for each in self.launches]
        return None if None in costs else sum(cost.busiest for cost in costs if cost)

    @property
    def name(self) -> str:
        return f"{self.choice.variant.name} {parameters_of(self.choice)}".strip()


@dataclass(frozen=True)
class Layer:
    """Equal layers of a network: the first one, how many there are, and its candidates, the cheapest first."""

    operator: str
    shape: Shape
    times: int
    neighbours: tuple[Neighbour, ...]

    def text(self) -> str:
        """Return a table of the candidates."""
        head = [
            "candidate",
            "group",
            "registers",
            "occupancy",
            "spills:fills",
            "in memory",
            "largest group",
            "Mcycles",
        ]
        return (
            f"\n{self.operator} ({self.shape}, {self.times}×)\n\n{table(head, list(map(_line, self.neighbours)))}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        found = [
            {"candidate": each.name, "chosen": each.is_chosen, "cycles": each.cycles} for each in self.neighbours
        ]
        spilled = [any(one.spills for one in each.launches) for each in self.neighbours]
        both = [{**one, "spills": spills} for one, spills in zip(found, spilled, strict=True)]
        return {"operator": self.operator, "shape": str(self.shape), "times": self.times, "candidates": both}


def layers_of(plan: MaliPlan, gpu: Gpu, root: Root) -> tuple[Layer, ...]:
    """Compile the candidates of each layer of a plan that leaves a choice. Raises DeviceError."""
    equal: dict[str, list[tuple[Site[Any], Choice]]] = {}
    for site, choice in plan.chosen.values():
        equal.setdefault(shape_of(site).key, []).append((site, choice))
    tried = {key: tuple(worth_compiling(*same[0])) for key, same in equal.items()}
    launches = {key: [launches_of(same[0][0], choice) for choice in tried[key]] for key, same in equal.items()}
    programs = (
        program for group in launches.values() for one in group for program in programs_of(one, plan.device)
    )
    answers = root.compile(gpu, programs)
    return tuple(
        _layer(plan, gpu, answers, same, list(zip(tried[key], launches[key], strict=True)))
        for key, same in equal.items()
        if len(tried[key]) > 1
    )


def worth_compiling(site: Site[Any], chosen: Choice) -> Iterator[Choice]:
    """Yield the choice, then of each variant as many of the tuner's candidates as it may try without a gain.

    Of those that differ by their group alone it yields one: their code is the same.
    """
    yield chosen
    seen, count = {(chosen.variant.name, parameters_of(chosen))}, dict[str, int]()
    for choice in candidates(site):
        name, what = choice.variant.name, (choice.variant.name, parameters_of(choice))
        if what not in seen and count.get(name, 0) < PATIENCE:
            seen.add(what)
            count[name] = count.get(name, 0) + 1
            yield choice


def launches_of(site: Site[Any], choice: Choice) -> tuple[Launch, ...]:
    """Return the launches of a candidate, with the halo that it reads around its input, as the tuner tries it."""
    first, *others = site.inputs
    inputs = (replace(first, halo=choice.variant.reach(site, choice.parameters)), *others)
    return choice.variant.launches(replace(site, inputs=inputs), choice.parameters)


def _layer(
    plan: MaliPlan,
    gpu: Gpu,
    answers: Mapping[Program, Any],
    same: list[tuple[Site[Any], Choice]],
    tried: list[tuple[Choice, tuple[Launch, ...]]],
) -> Layer:
    site, chosen = same[0]
    found = [
        Neighbour(
            choice,
            tuple(with_answers(one, parameters_of(choice), plan.device, gpu, answers) for one in launches),
            choice == chosen,
        )
        for choice, launches in tried
    ]
    ranked = sorted(found, key=lambda each: (each.cycles is None, each.cycles or 0.0))
    return Layer(site.operator.name, shape_of(site), len(same), tuple(ranked))


def _line(neighbour: Neighbour) -> list[str]:
    name = f"**{neighbour.name}**" if neighbour.is_chosen else neighbour.name
    group = ", ".join(str(each.launch.group) for each in neighbour.launches)
    if neighbour.cycles is None:
        return [name, group, "–", "–", "–", "–", "–", "failed"]
    found = [each.compiled.statistics for each in neighbour.launches if each.compiled.statistics]
    kept = (", ".join(map(registers_of, found)), ", ".join(str(each.threads) for each in found))
    spills = ", ".join(f"{each.spills}:{each.fills}" for each in found)
    private = ", ".join(str(each.compiled.private_bytes) for each in neighbour.launches)
    limit = ", ".join(str(each.compiled.largest_group) for each in neighbour.launches)
    return [name, group, *kept, spills, private, limit, f"{neighbour.cycles / 1e6:.3f}"]
