"""The command line as a user starts it."""

import io
import os
import subprocess
import sys
from pathlib import Path

from edged.engine.device import list_devices

DEVICES = ["numpy", *(["auto"] if list_devices() else [])]
NO_OPENCL = {"OCL_ICD_VENDORS": "/nonexistent"}  # what the OpenCL loader sees where no driver is installed


def edged(*arguments: str | Path | int, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `edged …` to its end. Whatever it is given, it never shows a traceback."""
    command = [sys.executable, "-m", "edged", *map(str, arguments)]
    environment = os.environ | (env or {})
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True
