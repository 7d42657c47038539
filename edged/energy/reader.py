"""Read rails in a thread, since a file may block; integrate power if no energy is counted."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from queue import Empty, SimpleQueue
from types import MappingProxyType

from edged.energy import bounded
from edged.energy.rails import Rail
from edged.energy.sums import PowerIntegral

PAUSE_S = 10.0  # until a rail that has blocked is read again

log = logging.getLogger("edged.energy")


class Reader:
    """Reads rails with a time limit. A rail that exceeds it is left out until it answers in time again."""

    def __init__(self, rails: Sequence[Rail]) -> None:
        self._rails = list(rails)
        self._names = {rail.name for rail in rails}
        self._missing: set[str] = set()
        self._thread: _Thread | None = None
        self._back: SimpleQueue[Rail] = SimpleQueue()

    def read(self) -> dict[str, float]:
        """Return joules or watts by name, without rails that give no value now.

        Takes at most the limit per blocked rail.
        """
        while not self._back.empty():
            self._rails.append(self._back.get())
        readings = self._readings()
        if readings.keys() ^ self._missing != self._names:
            self._log_missing(self._names - readings.keys())
        return readings

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
            log.warning("rail %s cannot be read now: predictions that include it have no joules until then", name)
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
