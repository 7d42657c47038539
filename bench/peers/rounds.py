"""Contenders in turn, each turn with the state of the machine: what is kept of them, and its figures by state."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from bench.peers.contender import Contender, MissingError
from bench.quartiles import FEWEST, Quartiles
from edged.system.machine_state import MachineState

TURN_COLUMNS = ("round", "state", "others", "ms", "runs")

T = TypeVar("T")
Kept = Mapping[str, Any]  # of a contender: name, turns (rows of TURN_COLUMNS), error, weight_bytes, or missing


@dataclass(frozen=True)
class Figures:
    """A contender's milliseconds by turn in one state, and their ratios to the yardstick's of the same rounds."""

    ms: Quartiles
    ratio: Quartiles | None


def play(
    contenders: Sequence[Contender], rounds: int, turn_s: float, machine: MachineState
) -> list[dict[str, Any]]:
    """Let each have one turn of `turn_s` a round; return name and turns of each, and why one went missing.

    The order rotates, and every second round is reversed, so that nobody always follows the same neighbour.
    """
    kept: dict[str, dict[str, Any]] = {each.name: {"name": each.name, "turns": []} for each in contenders}
    for number in range(rounds):
        for contender in order(contenders, number):
            if "missing" in kept[contender.name]:
                continue
            try:
                kept[contender.name]["turns"].append(_turn(contender, number, turn_s, machine))
            except MissingError as problem:
                kept[contender.name]["missing"] = str(problem)
    return list(kept.values())


def _turn(contender: Contender, number: int, turn_s: float, machine: MachineState) -> list[Any]:
    def run() -> list[float]:
        times = contender.run_for(turn_s)
        contender.wait_until_idle()  # before the next look at the machine
        return times

    times, turn = machine.during(run)
    return [number, turn.state, turn.others, round(1e3 * median(times), 4), len(times)]


def order(contenders: Sequence[T], number: int) -> Sequence[T]:
    """Return the order of a round."""
    first = number % len(contenders)
    rotated = [*contenders[first:], *contenders[:first]]
    return rotated[::-1] if number % 2 else rotated


def figures(row: Kept, yardstick: Kept | None, state: str) -> Figures | None:
    """Return what a contender took in that state; None where it had too few turns there."""
    times = [turn[3] for turn in row["turns"] if turn[1] == state]
    ratios = list(_ratios(row, yardstick, state)) if yardstick else []
    if len(times) < FEWEST:
        return None
    return Figures(Quartiles.of(times), Quartiles.of(ratios) if len(ratios) >= FEWEST else None)


def states(rows: Sequence[Kept]) -> list[str]:
    """Return the state of each turn of all contenders."""
    return [turn[1] for row in rows for turn in row["turns"]]


def _ratios(row: Kept, yardstick: Kept, state: str) -> Iterator[float]:
    """Of the rounds in which both had their turn in that state."""
    others = {turn[0]: turn[3] for turn in yardstick["turns"] if turn[1] == state}
    for number, kept_state, _, ms, _ in row["turns"]:
        if kept_state == state and number in others:
            yield ms / others[number]
