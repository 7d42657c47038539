"""Read rails in a thread, since a file may block; sum their energy, or integrate power if no energy is counted."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Protocol

from edged.energy import bounded
from edged.energy.rails import Rail
from edged.energy.zeros import Zeros

MISSED = 5  # readings missed in a row, after which the energy in between is unknown
PATIENCE_S = 0.5  # seconds: a shorter gap is tolerated, since a loaded machine samples late at times

PAUSE_S = 10.0  # until a rail that has blocked is read again

log = logging.getLogger("edged.energy")


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
            self._last = self._last or None  # one that stood at zero did not count: its next number is a first one
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


class Reader:
    """Reads rails with a time limit. A rail that exceeds it is left out until it answers in time again.

    So is one that reads nothing but zero, until it reads something else (`zeros.py`).
    """

    def __init__(self, rails: Sequence[Rail], clock: Callable[[], float] = time.monotonic) -> None:
        self._rails = list(rails)
        self._names = {rail.name for rail in rails}
        self._missing: set[str] = set()
        self._zeros = Zeros(clock)
        self._thread: _Thread | None = None
        self._back: SimpleQueue[Rail] = SimpleQueue()

    def read(self) -> dict[str, float]:
        """Return joules or watts by name, without rails that give no value now.

        Takes at most the limit per blocked rail.
        """
        while not self._back.empty():
            self._rails.append(self._back.get())
        readings = self._zeros.leave_out(self._readings())
        if readings.keys() ^ self._missing != self._names:
            self._log_missing(self._names - readings.keys())
        return {name: max(0.0, number) for name, number in readings.items()}

    def close(self) -> None:
        if self._thread:
            self._thread.stop()
            self._thread = None

    def _readings(self) -> dict[str, float]:
        while self._rails:
            self._thread = self._thread or _Thread(self._back)
            answer = self._thread.readings_of(tuple(self._rails))
            if isinstance(answer, dict):
                return answer
            self._rails.remove(answer)
            self._thread = None
        return {}

    def _log_missing(self, missing: set[str]) -> None:
        for name in sorted(missing - self._missing):
            why = self._zeros.problem_of(name) or "cannot be read now"
            log.warning("rail %s %s; until it can be read, predictions that include it have no joules", name, why)
        for name in sorted(self._missing - missing):
            log.info("rail %s is read again", name)
        self._missing = missing


class _Thread:
    """Serves a reader until a rail blocks; from then on it waits for that rail alone, until it answers again."""

    def __init__(self, back: SimpleQueue[Rail]) -> None:
        self._asked: SimpleQueue[Sequence[Rail] | None] = SimpleQueue()
        self._results: SimpleQueue[dict[str, float]] = SimpleQueue()
        self._back = back
        self._at: Rail | None = None
        self._blocked: Rail | None = None
        # a daemon thread: a driver that blocks must not keep the process alive
        threading.Thread(target=self._run, name="rails", daemon=True).start()

    def readings_of(self, rails: Sequence[Rail]) -> dict[str, float] | Rail:
        """Return the readings, or the rail that blocks; then this thread must not be used any more."""
        self._asked.put(rails)
        try:
            return self._results.get(timeout=bounded.BOUND_S)
        except Empty:
            blocked = self._at
        if blocked is None:  # it has just finished
            return self._results.get()
        self._blocked = blocked
        self.stop()
        return blocked

    def stop(self) -> None:
        self._asked.put(None)

    def _run(self) -> None:
        while rails := self._asked.get():
            self._at = rails[0]
            readings = {}
            for self._at in rails:
                if (reading := _reading(self._at)) is not None:
                    readings[self._at.name] = reading
            self._at = None
            self._results.put(readings)
        if self._blocked:
            self._wait_for(self._blocked)

    def _wait_for(self, rail: Rail) -> None:
        took_s = bounded.BOUND_S
        while took_s >= bounded.BOUND_S:
            time.sleep(PAUSE_S)
            start = time.monotonic()
            _reading(rail)
            took_s = time.monotonic() - start
        self._back.put(rail)


def _reading(rail: Rail) -> float | None:
    try:
        return rail.read()
    except (OSError, ValueError):
        return None


class Sampler:
    """A thread that reads rails `sample_hz` times per second."""

    def __init__(self, rails: Sequence[Rail], sample_hz: float) -> None:
        sums = {rail.name: PowerIntegral(sample_hz) for rail in rails}
        self.sums: Mapping[str, PowerIntegral] = MappingProxyType(sums)
        self._reader = Reader(rails)
        self._period_s = 1 / sample_hz
        self._stopped = threading.Event()
        if rails:
            self._sample()
            threading.Thread(target=self._run, name="power", daemon=True).start()

    def close(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._period_s):
            self._sample()
        self._reader.close()

    def _sample(self) -> None:
        watts = self._reader.read()
        for name, joules in self.sums.items():
            joules.add_reading(watts.get(name))
