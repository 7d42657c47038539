"""Profile a plan: the time of each kernel over several jobs, and of each layer."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from edged.engine.job import KernelTime
from edged.engine.launch_cost import LaunchCost
from edged.engine.peaks import Peaks
from edged.engine.runtime import Runtime
from edged.system.machine_state import ANY, UNWATCHED, Machine

WARM_UP_RUNS = 3
ENOUGH_S = 15.0  # a slower plan gets fewer runs, but at least FEWEST
FEWEST = 3
TURN = 10  # runs between two looks at the machine
TURN_S = 2.0  # a slower plan gets fewer
CLOCK_S = 1e-9  # resolution of the device's clock: an empty kernel may take none


class TimedResult(Protocol):
    """The timings of a job that a profile needs: see `Result`."""

    @property
    def upload_s(self) -> float: ...
    @property
    def forward_s(self) -> float: ...
    @property
    def download_s(self) -> float: ...
    @property
    def kernels(self) -> tuple[KernelTime, ...]: ...


@dataclass(frozen=True, eq=False)
class Run:
    """The moments of one job in seconds, by the host's clock: handed over, submitted, answered.

    `state`: of the machine meanwhile.
    """

    begun_s: float
    submitted_s: float
    done_s: float
    result: TimedResult
    state: str = ANY

    @property
    def wall_s(self) -> float:
        return self.done_s - self.begun_s


@dataclass(frozen=True)
class KernelProfile:
    """A launch with its time (median seconds of the runs), and its operations and bytes."""

    cost: LaunchCost
    seconds: float

    @property
    def flops_per_s(self) -> float:
        return 2 * self.cost.macs / self.seconds

    @property
    def bytes_per_s(self) -> float:
        return self.cost.nbytes / self.seconds

    def share_of_bound(self, peaks: Peaks) -> float:
        """Return the share of the roofline's bound.

        Above 1: data came from a cache, or Winograd saves multiplications.
        """
        return peaks.least_s(2 * self.cost.macs, self.cost.nbytes) / self.seconds

    def bound(self, peaks: Peaks) -> Literal["arithmetic", "memory"]:
        """Return which of the two roofs is lower for this kernel."""
        arithmetic_s = 2 * self.cost.macs / peaks.flops_per_s
        return "arithmetic" if arithmetic_s > self.cost.nbytes / peaks.bytes_per_s else "memory"


@dataclass(frozen=True)
class Profile:
    """Jobs of `frames` frames that ran one after the other. Figures are medians over the runs, in seconds."""

    frames: int
    runs: tuple[Run, ...]
    costs: tuple[LaunchCost, ...]

    def those(self, counts: Callable[[str], bool]) -> "Profile":
        """Return the profile of the runs in states that count."""
        return replace(self, runs=tuple(run for run in self.runs if counts(run.state)))

    @cached_property
    def kernels(self) -> tuple[KernelProfile, ...]:
        """Return the kernels in the order of the launches."""
        times = [[kernel.seconds for kernel in run.result.kernels] for run in self.runs]
        medians = [statistics.median(column) for column in zip(*times, strict=True)]
        return tuple(
            KernelProfile(cost, max(seconds, CLOCK_S)) for cost, seconds in zip(self.costs, medians, strict=True)
        )

    @property
    def kernels_s(self) -> float:
        return statistics.median(sum(kernel.seconds for kernel in run.result.kernels) for run in self.runs)

    @property
    def gaps_s(self) -> float:
        """Return the time between the first kernel's start and the last one's end in which none was running."""
        return self.forward_s - self.kernels_s

    @property
    def forward_s(self) -> float:
        return statistics.median(run.result.forward_s for run in self.runs)

    @property
    def wall_s(self) -> float:
        """Return the time from handing over a job to its scores."""
        return statistics.median(run.wall_s for run in self.runs)

    @property
    def submit_s(self) -> float:
        """Return the host's part of it: the time to enqueue the kernels, while the first ones may already run."""
        return statistics.median(run.submitted_s - run.begun_s for run in self.runs)


def profile(
    runtime: Runtime,
    costs: tuple[LaunchCost, ...],
    images: NDArray[np.uint8],
    runs: int,
    show: Callable[[int], None] = lambda done: None,
    machine: Machine = UNWATCHED,
) -> Profile:
    """Run `images` `runs` times and time each kernel. Raises DeviceError.

    `show`: called between two runs with how many are timed; 0 during the first ones, which only warm up.
    `machine`: looked at before and after each turn of some runs.
    """
    for _ in range(WARM_UP_RUNS):
        _run(runtime, images)
        show(0)
    done: list[Run] = []

    def take_turn() -> list[Run]:
        turn: list[Run] = []
        while len(turn) < TURN and not _is_enough([*done, *turn], runs) and sum(r.wall_s for r in turn) < TURN_S:
            turn.append(_run(runtime, images))
            show(len(done) + len(turn))
        return turn

    while not _is_enough(done, runs):
        made, turn = machine.during(take_turn)
        done += [replace(run, state=turn.state) for run in made]
    return Profile(len(images), tuple(done), costs)


def _is_enough(done: Sequence[Run], runs: int) -> bool:
    return len(done) >= runs or (len(done) >= FEWEST and sum(run.wall_s for run in done) > ENOUGH_S)


def _run(runtime: Runtime, images: NDArray[np.uint8]) -> Run:
    begun = time.perf_counter()
    pending = runtime.submit(images)
    submitted = time.perf_counter()
    result = pending.wait()
    return Run(begun, submitted, time.perf_counter(), result)


Kernels = Sequence[KernelProfile]


def by_layer(kernels: Kernels) -> list[KernelProfile]:
    """Sum up kernels by operator, or fused operators, in order."""
    names = dict.fromkeys(kernel.cost.operator for kernel in kernels)
    return [_merged([kernel for kernel in kernels if kernel.cost.operator == name]) for name in names]


def side_by_side(first: Kernels, second: Kernels) -> list[tuple[KernelProfile, KernelProfile]]:
    """Pair the layers of two plans of one graph; operators fused in one plan are one layer in both."""
    pairs = {}
    for group in _groups([*first, *second]):
        one, other = _of(group, first), _of(group, second)
        if one and other:
            pairs[first.index(one[0])] = _merged(one), _merged(other)
    return [pair for _, pair in sorted(pairs.items(), key=lambda item: item[0])]


def _of(group: set[str], kernels: Kernels) -> Kernels:
    return [kernel for kernel in kernels if group & set(kernel.cost.operators)]


def _groups(kernels: Iterable[KernelProfile]) -> list[set[str]]:
    """Return the smallest sets of operators that no kernel computes only partially."""
    groups: list[set[str]] = []
    for kernel in kernels:
        names = set(kernel.cost.operators)
        touching = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names] + [names.union(*touching)]
    return groups


def _merged(kernels: Kernels) -> KernelProfile:
    """Merge kernels, under the name of the one with most to compute."""
    main = max(kernels, key=lambda kernel: (kernel.cost.macs, kernel.seconds))
    macs, nbytes = sum(kernel.cost.macs for kernel in kernels), sum(kernel.cost.nbytes for kernel in kernels)
    operator = "+".join(dict.fromkeys(kernel.cost.operator for kernel in kernels))
    cost = LaunchCost(operator, main.cost.kernel, macs, nbytes)
    return KernelProfile(cost, sum(kernel.seconds for kernel in kernels))
