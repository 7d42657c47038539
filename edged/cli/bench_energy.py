"""What a frame costs on a device, for `edged bench --energy`: joules and watts, several plans in turn."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.cli.numbers import above_zero
from edged.cli.rails import add_sysfs
from edged.energy.find import Rails, find_rails
from edged.energy.idle import watts_over
from edged.energy.meter import Meter
from edged.messages import EnergyMethod
from edged.worker.runtime import ModelRuntime

IDLE_S = 2.0
TURNS = 3
TURN_S = 1.0
SAMPLE_HZ = 100  # of rails of power: a turn is short, and nothing else is waiting for the processor


@dataclass
class Consumption:
    """Of one plan, without pause. `joules` is None where a rail could not be read all the time."""

    joules: float | None
    seconds: float = 0.0
    frames: int = 0

    @property
    def watts(self) -> float | None:
        return None if self.joules is None else self.joules / self.seconds

    @property
    def joules_each(self) -> float | None:
        """Joules of a frame."""
        return None if self.joules is None else self.joules / self.frames


@dataclass(frozen=True)
class Energy:
    """Of each plan, on `rails` together, which draw `idle_watts` while nothing runs; why not is in `note`."""

    method: EnergyMethod
    rails: tuple[str, ...]
    note: str
    idle_watts: float | None
    plans: list[Consumption] = field(default_factory=list)


def add_energy_options(parser: argparse.ArgumentParser) -> None:
    """--energy, --rails, --watts-per-core and --sysfs."""
    energy = "measure joules too, for some seconds more, and how many pictures of known labels are right"
    parser.add_argument("--energy", action="store_true", help=energy)
    rails = "rails that the device uses, as `edged devices` names them (default: all but those in others)"
    parser.add_argument("--rails", metavar="NAME,…", help=rails)
    watts = "estimate joules where no rail can be read: processor time × this"
    parser.add_argument("--watts-per-core", type=above_zero("watts"), metavar="W", help=watts)
    add_sysfs(parser)


def energy_of(
    runtimes: Sequence[ModelRuntime], images: NDArray[np.uint8], arguments: argparse.Namespace
) -> Energy:
    """Whatever else the machine does in the meantime meets all of them alike. Raises DeviceError."""
    rails = _rails(arguments)
    watts_per_core = arguments.watts_per_core if rails.method == "estimated" else None
    meter = Meter(rails.rails, watts_per_core=watts_per_core, sample_hz=rails.energy.sample_hz)
    try:
        idle = watts_over(meter, IDLE_S) if meter.rails else {}
        idle_watts = sum(idle.values()) if idle else None
        plans = [Consumption(0.0 if meter.rails else None) for _ in runtimes]
        for _ in range(TURNS if meter.rails else 0):
            for runtime, plan in zip(runtimes, plans, strict=True):
                _run(runtime, images, plan, meter)
    finally:
        meter.close()
    return Energy(rails.method, meter.bears, rails.note, idle_watts, plans)


def _rails(arguments: argparse.Namespace) -> Rails:
    names = tuple(arguments.rails.split(",")) if arguments.rails else "auto"
    watts = arguments.watts_per_core
    return find_rails(config.Energy(rails=names, watts_per_core=watts, sysfs=arguments.sysfs, sample_hz=SAMPLE_HZ))


def _run(runtime: ModelRuntime, images: NDArray[np.uint8], plan: Consumption, meter: Meter) -> None:
    runtime.submit(images).wait()
    meter.begin()
    start = time.perf_counter()
    while time.perf_counter() - start < TURN_S:
        runtime.submit(images).wait()
        plan.frames += len(images)
    since = meter.begin()
    plan.seconds += since.seconds
    is_known = set(meter.bears) <= since.whole
    plan.joules = plan.joules + sum(since.added.values()) if is_known and plan.joules is not None else None
