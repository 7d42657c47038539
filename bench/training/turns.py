"""Contenders timed in turn, so that whatever else the machine does meets all of them alike."""

import time
from collections.abc import Mapping

from bench.peers.cases import Run

TURN = 5  # timed runs of a contender before the next has its turn
SETTLE_S = (
    0.03  # of untimed runs first: the one before spins on the cores, waiting for work (seen for 20 ms at most)
)
FEWEST = 3


def time_in_turn(contenders: Mapping[str, Run], rounds: int, budget_s: float) -> dict[str, list[list[float]]]:
    """Seconds of each run, by contender and turn.

    The order rotates, and every second turn is reversed, so that nobody always follows the same neighbour. A
    contender whose `rounds` would take longer than `budget_s` gets fewer, spread over the turns, FEWEST at least.
    """
    shares = {name: _affordable(run, rounds, budget_s) for name, run in contenders.items()}
    turns = -(-rounds // TURN)
    times: dict[str, list[list[float]]] = {name: [] for name in contenders}
    for turn in range(turns):
        for name in _order(list(contenders), turn):
            due = shares[name] * (turn + 1) // turns - shares[name] * turn // turns
            times[name].append(_timed(contenders[name], due))
    return times


def _affordable(run: Run, rounds: int, budget_s: float) -> int:
    run()
    return max(FEWEST, min(rounds, int(budget_s / _seconds(run))))


def _order(names: list[str], turn: int) -> list[str]:
    first = turn % len(names)
    rotated = names[first:] + names[:first]
    return rotated[::-1] if turn % 2 else rotated


def _timed(run: Run, runs: int) -> list[float]:
    if runs:
        settled = time.perf_counter() + SETTLE_S
        while time.perf_counter() < settled:
            run()
    return [_seconds(run) for _ in range(runs)]


def _seconds(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
