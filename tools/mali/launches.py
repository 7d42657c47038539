"""The launches of a plan for a GPU, and the programs to compile for them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from edged.config import Precision
from edged.engine.device import Device
from edged.engine.instructions import KHR_DOT
from edged.engine.launch import HostCall, Launch, kernels_of
from edged.engine.layout import Element
from edged.engine.planner import make_plan
from edged.engine.programs import compiler_options, source_of
from edged.engine.selection import Choice, Chooser
from edged.engine.tuning_records import chooser_for
from edged.engine.variants.variant import Site
from edged.model.model_part import ModelPart
from edged.model.package import Model
from tools.mali.cost import Cost, cost_of
from tools.mali.gpus import Gpu
from tools.mali.loops import without_inner_loops
from tools.mali.root import Program, Root
from tools.mali.statistics import Compiled

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Recorder:
    """Chooses as `chooser` does, and records each site with its choice, by the name of the operator."""

    chooser: Chooser
    chosen: dict[str, tuple[Site[Any], Choice]] = field(default_factory=dict)

    def channel_block(self, device: Device, element: Element = Element.FLOAT32) -> int:
        """Return the block size that `chooser` chooses."""
        return self.chooser.channel_block(device, element)

    def choose(self, site: Site[Any]) -> Choice:
        """Return the choice of `chooser`, and record it."""
        choice = self.chooser.choose(site)
        self.chosen[site.operator.name] = site, choice
        return choice


@dataclass(frozen=True)
class MaliPlan:
    """What edged would launch for a frame. `on_host`: operators that the host computes between the launches."""

    device: Device
    launches: tuple[Launch, ...]
    chosen: Mapping[str, tuple[Site[Any], Choice]]
    on_host: tuple[str, ...]

    def choice_of(self, launch: Launch) -> str:
        """Return the parameters that were chosen for a launch; empty for one that leaves no choice."""
        if launch.operator not in self.chosen:
            return ""
        return parameters_of(self.chosen[launch.operator][1])


def parameters_of(choice: Choice) -> str:
    """Return the parameters of a choice without its group, which each launch has: TILE=4 OUTS=2."""
    return " ".join(f"{name}={value}" for name, value in choice.parameters.items() if name != "GROUP")


def plan_for(model: Model, device: Device, precision: Precision) -> MaliPlan:
    """Plan a frame of `model` as edged does, with dot products of bytes where the driver announces them.

    Raises ModelError.
    """
    device = replace(device, instructions=announced(device))
    recorder = Recorder(chooser_for(device))
    plan = make_plan(ModelPart(model.graph, model.input), device, precision=precision, chooser=recorder)
    on_host = tuple(step.operator for step in plan.launches if isinstance(step, HostCall))
    return MaliPlan(device, kernels_of(plan.launches), recorder.chosen, on_host)


def announced(device: Device) -> tuple[str, ...]:
    """Return the dot products that a plan may use: on a board edged tries first whether they are right."""
    return (KHR_DOT,) if device.integer_dot else ()


def program_of(launch: Launch, device: Device) -> Program:
    """Return the program that edged compiles for a launch, without comments: what changes one keeps the answer."""
    return Program(
        COMMENT.sub("", source_of(launch.kernel)), launch.kernel, (*compiler_options(device), *launch.options)
    )


def programs_of(launches: Sequence[Launch], device: Device) -> Iterator[Program]:
    """Yield all programs to compile for launches, also those without the inner loops; equal ones repeatedly."""
    for launch in launches:
        yield program_of(launch, device)
        if short := without_inner_loops(launch):
            yield program_of(short, device)


@dataclass(frozen=True)
class CompiledLaunch:
    """A launch with what the compiler says of its kernel. `cost`: None where it failed, or was not estimated."""

    launch: Launch
    parameters: str
    compiled: Compiled
    cost: Cost | None

    @property
    def fits(self) -> bool:
        """Return whether the kernel allows the launch's group."""
        return self.compiled.statistics is None or self.launch.group <= self.compiled.largest_group

    @property
    def spills(self) -> bool:
        """Return whether registers of it lie in memory."""
        found = self.compiled.statistics
        return bool(found and found.spills + found.fills)


def compiled_for(model: Model, gpu: Gpu, precision: Precision, root: Root) -> tuple[CompiledLaunch, ...]:
    """Compile the launches of a network without their cost, which takes a second program for most of them.

    Raises ModelError, DeviceError.
    """
    plan = plan_for(model, root.device(gpu), precision)
    programs = [program_of(launch, plan.device) for launch in plan.launches]
    answers = root.compile(gpu, programs)
    return tuple(
        CompiledLaunch(launch, plan.choice_of(launch), answers[program], None)
        for launch, program in zip(plan.launches, programs, strict=True)
    )


def with_answers(
    launch: Launch, parameters: str, device: Device, gpu: Gpu, answers: Mapping[Program, Compiled]
) -> CompiledLaunch:
    """Return a launch with what was compiled for it."""
    compiled = answers[program_of(launch, device)]
    if compiled.statistics is None:
        return CompiledLaunch(launch, parameters, compiled, None)
    short = without_inner_loops(launch)
    without = answers[program_of(short, device)].statistics if short else None
    cost = cost_of(launch, compiled.statistics, without, gpu.architecture, device.compute_units)
    return CompiledLaunch(launch, parameters, compiled, cost)
