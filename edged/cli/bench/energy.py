"""Meter the joules of several plans in turn."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.cli.options import above_zero, add_sysfs
from edged.energy.find import Rails, find_rails
from edged.energy.meter import Meter, watts_over
from edged.messages import EnergyMethod
from edged.runtime.base import ModelRuntime

IDLE_S = 2.0
TURNS = 3
METERED_S = 1.0  # of one plan in a turn
SAMPLE_HZ = 100  # of power rails: a turn is short, and nothing else uses the processor


@dataclass
class Consumption:
    """Energy of one plan that runs without pause. `joules` is None if a rail could not be read all the time."""

    joules: float | None
    seconds: float = 0.0
    frames: int = 0

    @property
    def watts(self) -> float | None:
        return None if self.joules is None else self.joules / self.seconds

    @property
    def joules_each(self) -> float | None:
        return None if self.joules is None else self.joules / self.frames


@dataclass(frozen=True)
class Energy:
    """Energy of each plan on all `rails` together, which draw `idle_watts` while nothing runs.

    `note`: why it is unknown.
    """

    method: EnergyMethod
    rails: tuple[str, ...]
    note: str
    idle_watts: float | None
    plans: list[Consumption] = field(default_factory=list)


def add_energy_options(parser: argparse.ArgumentParser) -> None:
    """Add --energy, --rails, --watts-per-core and --sysfs."""
    energy = "also measure the energy of a frame, and the accuracy on pictures of known labels"
    parser.add_argument("--energy", action="store_true", help=energy)
    rails = "power rails of the device, as `edged devices` names them (default: all that do not overlap)"
    parser.add_argument("--rails", metavar="NAME,…", help=rails)
    watts = "estimate the energy if no rail is readable: processor time × W"
    parser.add_argument("--watts-per-core", type=above_zero("watts"), metavar="W", help=watts)
    add_sysfs(parser)


def energy_of(
    runtimes: Sequence[ModelRuntime], images: NDArray[np.uint8], arguments: argparse.Namespace
) -> Energy:
    """Measure the energy of plans in turn, so that other load affects all alike. Raises DeviceError."""
    rails = _rails(arguments)
    watts_per_core = arguments.watts_per_core if rails.method == "estimated" else None
    meter = Meter(rails.rails, watts_per_core=watts_per_core, sample_hz=rails.energy.sample_hz)
    try:
        idle = watts_over(meter, IDLE_S) if meter.rails else {}
        idle_watts = sum(idle.values()) if idle else None
        plans = [Consumption(0.0 if meter.rails else None) for _ in runtimes]
        for _ in range(TURNS if meter.rails else 0):
            for runtime, plan in zip(runtimes, plans, strict=True):
                _run_metered(runtime, images, plan, meter)
    finally:
        meter.close()
    return Energy(rails.method, meter.attributed_rails, rails.note, idle_watts, plans)


def is_energy_known(arguments: argparse.Namespace) -> bool:
    """Return whether there is a rail, or what is needed for an estimate."""
    return _rails(arguments).method != "none"


def _rails(arguments: argparse.Namespace) -> Rails:
    names = tuple(arguments.rails.split(",")) if arguments.rails else "auto"
    watts = arguments.watts_per_core
    return find_rails(
        config.EnergyConfig(rails=names, watts_per_core=watts, sysfs=arguments.sysfs, sample_hz=SAMPLE_HZ)
    )


def _run_metered(runtime: ModelRuntime, images: NDArray[np.uint8], plan: Consumption, meter: Meter) -> None:
    runtime.submit(images).wait()
    meter.start_job()
    start = time.perf_counter()
    while time.perf_counter() - start < METERED_S:
        runtime.submit(images).wait()
        plan.frames += len(images)
    since = meter.start_job()
    plan.seconds += since.seconds
    is_known = set(meter.attributed_rails) <= since.whole
    plan.joules = plan.joules + sum(since.added.values()) if is_known and plan.joules is not None else None
