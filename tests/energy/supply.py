"""Power supplies whose energy is known."""

import threading
from pathlib import Path

from edged.energy.rails import Rail

STEP_S = 0.02


class Supply:
    """So many watts, as the counter of microjoules at `path` shows them from now on."""

    def __init__(self, path: Path, watts: float) -> None:
        self._path = path
        self._watts = watts
        self.joules = 0.0

    def run(self, stopped: threading.Event) -> None:
        new = self._path.with_suffix(".new")
        while not stopped.wait(STEP_S):
            self.joules += self._watts * STEP_S
            new.write_text(f"{round(1e6 * self.joules)}\n")
            new.replace(self._path)


class Stepped:
    """A rail that supplies what it is told to; it begins at 1 J."""

    def __init__(self, folder: Path, name: str, range_joules: float | None = None) -> None:
        self.rail = Rail(name, folder / name, range_joules)
        self.joules = 1.0
        self.spend(0)

    def spend(self, joules: float) -> None:
        self.joules += joules
        shown = self.joules % self.rail.range_joules if self.rail.range_joules else self.joules
        self.rail.path.write_text(f"{round(shown * 1e6)}\n")

    def restart(self) -> None:
        self.joules = 0.0
        self.spend(0)
