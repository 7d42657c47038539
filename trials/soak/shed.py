"""A camera of the soak that is a program: `exec:` in its config. See `shed_program.py`."""

import sys
from pathlib import Path
from typing import Any

import cv2
import psutil

from tests.camera.pictures import plain
from tests.e2e.witness import processes_of

PROGRAM = Path(__file__).with_name("shed_program.py")
USUAL_S = 0.1  # from one picture to the next
TIMEOUT_S = 5.0


class Shed:
    """Its files, and the program while the daemon runs it."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the daemon keeps its state; a new one in it is for the camera."""
        self._state, self._folder = folder, folder / "shed"
        self._folder.mkdir()
        (self._folder / "picture").write_bytes(cv2.imencode(".jpg", plain(120, 160, 120))[1].tobytes())
        self.send_every(USUAL_S)

    @property
    def config(self) -> dict[str, Any]:
        """Return its section. Its pictures are all the same, which is no fault here."""
        source = f"exec:{sys.executable} {PROGRAM} {self._folder}"
        return {"source": source, "timeout_s": TIMEOUT_S, "frozen_s": 0}

    def send_every(self, seconds: float) -> None:
        """Set the time from one picture to the next."""
        new = self._folder / "every.new"
        new.write_text(str(seconds))
        new.rename(self._folder / "every")

    def sent(self) -> int:
        """Return how many pictures all its programs have written."""
        return (self._folder / "sent").stat().st_size

    def programs(self) -> list[psutil.Process]:
        """Return those that run: one, unless the daemon has just begun or ended it."""
        return [each for each in processes_of(self._state) if str(PROGRAM) in _command(each)]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
