"""The command line as a user starts it."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from edged.cli import run_command_line
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


def edged_here(*arguments: str | Path | int) -> subprocess.CompletedProcess[str]:
    """Run `edged …` as `edged` does, but in this process: another one imports for a second.

    Not a verb that serves: it changes what signals do.
    """
    command = [str(each) for each in arguments]
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
        code = run_command_line(command)
    assert "Traceback" not in errors.getvalue(), errors.getvalue()
    return subprocess.CompletedProcess(command, code, output.getvalue(), errors.getvalue())


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True
