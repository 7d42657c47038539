"""Compare several plans of a whole network: their times and their errors."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.graph import Graph
from edged.model.package import Input

ROUNDS = 60
ENOUGH_S = 20.0  # rounds; a slow network gets fewer
WARM_UP_RUNS = 3

Seconds = NDArray[np.float64]


def times_in_turn(runtimes: Sequence[Runtime], images: NDArray[np.uint8]) -> list[Seconds]:
    """Return wall seconds of jobs by runtime. Each runs once per round, and each round begins with another one."""
    for runtime in runtimes:
        for _ in range(WARM_UP_RUNS):
            _time(runtime, images)
    order = list(range(len(runtimes)))
    rounds: list[list[float]] = []
    started = time.perf_counter()
    while len(rounds) < ROUNDS and time.perf_counter() - started < ENOUGH_S:
        seconds = {index: _time(runtimes[index], images) for index in order}
        rounds.append([seconds[index] for index in range(len(runtimes))])
        order = order[1:] + order[:1]
    return list(np.array(rounds).T)


def error_of(runtime: Runtime, graph: Graph, wanted: Input, images: NDArray[np.uint8]) -> float:
    """Return the largest error of a network's output, as a share of its range, by the float64 reference."""
    expected = reference.run(graph, reference.prepare(images, wanted), np.float64)
    found = runtime.submit(images).wait().outputs
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def _time(runtime: Runtime, images: NDArray[np.uint8]) -> float:
    start = time.perf_counter()
    runtime.submit(images).wait()
    return time.perf_counter() - start
