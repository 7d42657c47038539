"""Joules of jobs, from the differences of the rails' counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edged.energy.rails import Rail, joules_between


@dataclass(frozen=True)
class Spent:
    """What a job cost, and what each rail has added since the answer before.

    `joules` is None where there is no rail, or where one of them had a gap (a reset, a failed reading).
    """

    joules: float | None
    rails: dict[str, float]


class Meter:
    """Gives each joule to one job: to the one that finishes next after the device was last idle.

    So with jobs that overlap, a job gets what was spent between the completion before and its own, and the
    sum over jobs is the counters' own difference. What an idle device spends is told, but is no job's.
    """

    def __init__(self, rails: Sequence[Rail]) -> None:
        self._rails = tuple(rails)
        self._last: dict[str, float] = {}
        self._untold: dict[str, float] = {}
        self._advance()

    def begin(self) -> None:
        """A job begins on an idle device: nothing that was spent before is its own."""
        self._untold = _sum(self._untold, self._advance())

    def end(self) -> Spent:
        """A job is finished."""
        added = self._advance()
        told, self._untold = _sum(self._untold, added), {}
        complete = bool(self._rails) and len(added) == len(self._rails)
        return Spent(sum(added.values()) if complete else None, told)

    def _advance(self) -> dict[str, float]:
        """Joules by rail since the call before; a rail with a gap is left out."""
        before, self._last = self._last, _readings(self._rails)
        differences = {
            rail.name: joules_between(before[rail.name], self._last[rail.name], rail.range_joules)
            for rail in self._rails
            if rail.name in before and rail.name in self._last
        }
        return {name: joules for name, joules in differences.items() if joules is not None}


def _sum(some: Mapping[str, float], more: Mapping[str, float]) -> dict[str, float]:
    return {name: some.get(name, 0.0) + more.get(name, 0.0) for name in {**some, **more}}


def _readings(rails: Sequence[Rail]) -> dict[str, float]:
    readings = {}
    for rail in rails:
        try:
            readings[rail.name] = rail.read()
        except (OSError, ValueError):
            continue
    return readings
