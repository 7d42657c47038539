"""Compare several plans of a whole network: their times and their errors."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.graph import Graph
from edged.model.package import Input
from edged.system.machine_state import UNWATCHED, Account, Machine

ROUNDS = 60
ENOUGH_S = 20.0  # rounds; a slow network gets fewer
WARM_UP_RUNS = 3

Seconds = NDArray[np.float64]


def times_in_turn(
    runtimes: Sequence[Runtime], images: NDArray[np.uint8], machine: Machine = UNWATCHED
) -> tuple[list[Seconds], Account]:
    """Return wall seconds of jobs by runtime, and the account of the rounds of which they are.

    Each runs once per round, and each round begins with another one. Rounds in another state of the machine than
    most are left out.
    """
    for runtime in runtimes:
        for _ in range(WARM_UP_RUNS):
            _time(runtime, images)
    order = list(range(len(runtimes)))
    rounds: list[list[float]] = []
    states: list[str] = []
    started = time.perf_counter()
    while len(rounds) < ROUNDS and time.perf_counter() - started < ENOUGH_S:
        seconds, turn = machine.during(lambda: {index: _time(runtimes[index], images) for index in order})
        rounds.append([seconds[index] for index in range(len(runtimes))])
        states.append(turn.state)
        order.append(order.pop(0))
    account = Account.of(states)
    counted = [each for each, state in zip(rounds, states, strict=True) if account.counts(state)]
    return list(np.array(counted).T), account


def error_of(runtime: Runtime, graph: Graph, model_input: Input, images: NDArray[np.uint8]) -> float:
    """Return the largest error of a network's output, as a share of its range, by the float64 reference."""
    expected = reference.run(graph, reference.prepare(images, model_input), np.float64)
    found = runtime.submit(images).wait().outputs
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def _time(runtime: Runtime, images: NDArray[np.uint8]) -> float:
    start = time.perf_counter()
    runtime.submit(images).wait()
    return time.perf_counter() - start
