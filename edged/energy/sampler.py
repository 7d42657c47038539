"""Adds up the power of rails that have no counter of energy."""

import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from edged.energy.rails import Rail
from edged.energy.reader import Reader
from edged.energy.sums import Integrated


class Sampler:
    """A thread that reads them `sample_hz` times a second."""

    def __init__(self, rails: Sequence[Rail], sample_hz: float) -> None:
        sums = {rail.name: Integrated(sample_hz) for rail in rails}
        self.sums: Mapping[str, Integrated] = MappingProxyType(sums)
        self._reader = Reader(rails)
        self._period_s = 1 / sample_hz
        self._stopped = threading.Event()
        if rails:
            self._sample()
            threading.Thread(target=self._run, name="power", daemon=True).start()

    def close(self) -> None:
        """End the thread."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._period_s):
            self._sample()
        self._reader.close()

    def _sample(self) -> None:
        watts = self._reader.read()
        for name, joules in self.sums.items():
            joules.take(watts.get(name))
