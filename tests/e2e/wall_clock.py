"""A wall clock that jumps, in processes that are started for that."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SHIM = Path(__file__).with_name("wallclock.c")
HOUR_S = 3600


class WallClock:
    """The wall clock of every process that is started with this `environment`; all other clocks stay true."""

    def __init__(self, folder: Path) -> None:
        self._offset = folder / "offset"
        self.jump(0)
        library = folder / "wallclock.so"
        compiler = shutil.which("gcc") or pytest.skip("no C compiler: apt-get install gcc libc6-dev")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(SHIM)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "WALL_CLOCK_OFFSET": str(self._offset)}

    def jump(self, to_s: int) -> None:
        """Set it wrong by so many seconds from now on."""
        new = self._offset.with_suffix(".new")
        new.write_text(str(to_s))
        os.replace(new, self._offset)
