"""NumPy in a worker multiplies in one thread: those of a library wait for each other."""

import os
import subprocess
import sys

import pytest

LIBRARIES = ("OPENBLAS", "OMP", "MKL")
CHOSEN = """
import os, sys
import edged.cli.worker
from edged.runtime.threads import limit_threads, multiply_in_one_thread
multiply_in_one_thread()
limit_threads(int(sys.argv[1]) or None)
print(*(os.environ[f"{library}_NUM_THREADS"] for library in ("OPENBLAS", "OMP", "MKL")), "numpy" in sys.modules)
"""


@pytest.fixture(autouse=True)
def nobody_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in LIBRARIES:
        monkeypatch.delenv(f"{library}_NUM_THREADS", raising=False)


def counts(threads: int = 0, **environment: str) -> str:
    """The threads of each library with `threads` in the config, and whether NumPy was loaded before."""
    command = [sys.executable, "-c", CHOSEN, str(threads)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=os.environ | environment, check=True
    )
    return done.stdout


def test_numpy_multiplies_in_one_thread_unless_the_config_or_the_user_has_chosen() -> None:
    assert counts() == "1 1 1 False\n"
    assert counts(threads=3) == "3 3 3 False\n"
    assert counts(OPENBLAS_NUM_THREADS="2") == "2 1 1 False\n"
