"""How `edged bench` measures time: several plans in turn."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edged.worker.runtime import ModelRuntime

TURN = 10  # runs of one plan before the next has its turn
WARM_UP_RUNS = 2  # at each turn, since the other has filled the caches
ENOUGH_S = 20.0  # a plan that is slow to compare with is not run more often than this allows, but FEWEST times
FEWEST = 3


@dataclass
class Timing:
    """Wall seconds of each run: of the whole job, and of the host's part, to enqueue the kernels."""

    seconds: list[float] = field(default_factory=list)
    host_seconds: list[float] = field(default_factory=list)


def time_in_turn(runtimes: Sequence[ModelRuntime], images: NDArray[np.uint8], runs: int) -> list[Timing]:
    """Whatever else the machine does in the meantime meets all of them alike."""
    timings = [Timing() for _ in runtimes]
    for start in range(0, runs, TURN):
        for runtime, timing in zip(runtimes, timings, strict=True):
            for _ in range(WARM_UP_RUNS):
                _run(runtime, images, Timing())
            for _ in range(min(TURN, runs - start)):
                if len(timing.seconds) < FEWEST or sum(timing.seconds) < ENOUGH_S:
                    _run(runtime, images, timing)
    return timings


def _run(runtime: ModelRuntime, images: NDArray[np.uint8], timing: Timing) -> None:
    start = time.perf_counter()
    pending = runtime.submit(images)
    enqueued = time.perf_counter()
    pending.wait()
    timing.seconds.append(time.perf_counter() - start)
    timing.host_seconds.append(enqueued - start)
