"""A machine whose states are given."""

from collections.abc import Callable
from typing import TypeVar

from edged.system.machine_state import Turn

T = TypeVar("T")


class ScriptedMachine:
    """`states` of its turns, one after another; the last one stays. `state`: that of the turn in progress."""

    def __init__(self, *states: str) -> None:
        self._states = list(states)
        self.state = ""
        self.turns = 0

    def during(self, measure: Callable[[], T]) -> tuple[T, Turn]:
        self.state = self._states[min(self.turns, len(self._states) - 1)]
        self.turns += 1
        return measure(), Turn(self.state, 0.0)
