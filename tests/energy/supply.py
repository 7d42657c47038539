"""A power supply that goes on beside a test."""

import threading
from pathlib import Path

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
