"""Time the jobs of several plans in turn, by the state of the machine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edged.engine.one_launch import COMPARED
from edged.runtime.base import ModelRuntime
from edged.system.machine_state import UNWATCHED, Machine

TURN = 10  # runs of one plan before the next one's turn
TURN_S = 2.0  # a slower plan gets fewer: the state of the machine is looked at before and after a round of turns
WARM_UP_RUNS = 2  # at each turn, since another plan has filled the caches
ENOUGH_S = 20.0  # a slower plan gets fewer runs, but at least FEWEST
FEWEST = 3
SETTLING_RUNS = 4 * COMPARED  # enough for the runtime to choose between its forms of launching
SETTLING_S = 5.0  # a slower plan gets fewer of them


@dataclass
class Timing:
    """Wall seconds of each run: of the whole job, and of the time in which the host enqueues the kernels.

    `states`: those of the machine, by run.
    """

    seconds: list[float] = field(default_factory=list)
    host_seconds: list[float] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    def is_enough(self, runs: int) -> bool:
        """Return whether there are so many `runs`, or as many as a slow plan gets."""
        done = len(self.seconds)
        return done >= runs or (done >= FEWEST and sum(self.seconds) >= ENOUGH_S)

    def label(self, state: str) -> None:
        """Note the state of the runs since the last call."""
        self.states += [state] * (len(self.seconds) - len(self.states))

    def those(self, counts: Callable[[str], bool]) -> "Timing":
        """Return the runs in states that count."""
        indices = [index for index, state in enumerate(self.states) if counts(state)]
        return Timing(
            [self.seconds[index] for index in indices],
            [self.host_seconds[index] for index in indices],
            [self.states[index] for index in indices],
        )


def time_in_turn(
    runtimes: Sequence[ModelRuntime], images: NDArray[np.uint8], runs: int, machine: Machine = UNWATCHED
) -> list[Timing]:
    """Time plans in turn, so that other load on the machine affects all of them alike."""
    timings = [Timing() for _ in runtimes]

    def take_turns() -> None:
        for runtime, timing in zip(runtimes, timings, strict=True):
            _take_turn(runtime, images, runs, timing)

    while not all(timing.is_enough(runs) for timing in timings):
        _, turn = machine.during(take_turns)
        for timing in timings:
            timing.label(turn.state)
    return timings


def _take_turn(runtime: ModelRuntime, images: NDArray[np.uint8], runs: int, timing: Timing) -> None:
    for _ in range(WARM_UP_RUNS):
        _run(runtime, images, Timing())
    before, start = len(timing.seconds), time.perf_counter()
    while len(timing.seconds) < before + TURN and not timing.is_enough(runs):
        _run(runtime, images, timing)
        if time.perf_counter() - start > TURN_S:
            return


def settle(runtime: ModelRuntime, images: NDArray[np.uint8]) -> None:
    """Run jobs until the runtime knows which form of launching is faster; fewer of a slow network."""
    settling = Timing()
    while len(settling.seconds) < SETTLING_RUNS and sum(settling.seconds) < SETTLING_S:
        _run(runtime, images, settling)


def _run(runtime: ModelRuntime, images: NDArray[np.uint8], timing: Timing) -> None:
    start = time.perf_counter()
    pending = runtime.submit(images)
    enqueued = time.perf_counter()
    pending.wait()
    timing.seconds.append(time.perf_counter() - start)
    timing.host_seconds.append(enqueued - start)
