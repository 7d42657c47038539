"""Sums of joules: of a counter that wraps or is reset, of power samples, of processor time."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MISSED = 5  # readings missed in a row, after which the energy in between is unknown
PATIENCE_S = 0.5  # seconds: a shorter gap is tolerated, since a loaded machine samples late at times


@dataclass(frozen=True, slots=True)
class EnergyLevel:
    """Joules so far.

    Between two levels with the same `known` no joule is missing; None: the energy is unknown now.
    """

    joules: float
    known: int | None


class RailSum(Protocol):
    """The energy of a rail since its first reading."""

    def level(self) -> EnergyLevel: ...


class CounterSum:
    """Sums the readings of an energy counter."""

    def __init__(self, range_joules: float | None = None) -> None:
        self._range_joules = range_joules
        self._joules = 0.0
        self._resets = 0
        self._last: float | None = None
        self._is_read = False

    def add_reading(self, reading: float | None) -> None:
        """Add a reading. None: it failed; the energy until the next one is attributed to no job."""
        self._is_read = reading is not None
        if reading is None:
            return
        before, self._last = self._last, reading
        added = 0.0 if before is None else joules_between(before, reading, self._range_joules)
        self._resets += added is None
        self._joules += added or 0.0

    def level(self) -> EnergyLevel:
        return EnergyLevel(self._joules, self._resets if self._is_read else None)


class PowerIntegral:
    """Integrates power readings; each holds until the next. Thread-safe for two threads."""

    def __init__(self, sample_hz: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._longest_s = max(PATIENCE_S, MISSED / sample_hz)
        self._clock = clock
        self._lock = threading.Lock()
        self._joules = 0.0
        self._watts: float | None = None
        self._since_s = 0.0
        self._gaps = 0

    def add_reading(self, watts: float | None) -> None:
        """Add a reading. None: it failed."""
        with self._lock:
            now_s = self._clock()
            if self._is_known(now_s):
                self._joules = self._integrate_until(now_s)
            elif self._watts is not None:
                self._gaps += 1
            if watts is None and self._watts is not None:
                self._gaps += 1
            self._watts, self._since_s = watts, now_s

    def level(self) -> EnergyLevel:
        with self._lock:
            now_s = self._clock()
            if self._is_known(now_s):
                return EnergyLevel(self._integrate_until(now_s), self._gaps)
            return EnergyLevel(self._joules, None)

    def _is_known(self, now_s: float) -> bool:
        return self._watts is not None and now_s - self._since_s <= self._longest_s

    def _integrate_until(self, now_s: float) -> float:
        return self._joules + (self._watts or 0.0) * (now_s - self._since_s)


class ProcessorTime:
    """An estimate: processor time of this process on all cores × a wattage per core."""

    NAME = "processor"

    def __init__(self, watts_per_core: float) -> None:
        self._watts = watts_per_core

    def level(self) -> EnergyLevel:
        return EnergyLevel(self._watts * time.process_time(), 0)


def joules_between(before: float, now: float, range_joules: float | None) -> float | None:
    """Return what a counter added between two readings, over one wrap; None where it was reset.

    A counter that goes down has wrapped only if it was in the upper half of its range and is in the lower
    one now; a reloaded driver starts from zero at any value, and the energy in between is unknown.
    """
    if now >= before:
        return now - before
    if range_joules and before > range_joules / 2 > now:
        return now + range_joules - before
    return None
