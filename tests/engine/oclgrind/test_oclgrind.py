"""Every kernel under Oclgrind, which finds races, accesses beyond a buffer, and reads of what nobody wrote."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from edged.engine.variants import VARIANTS
from tests.engine.oclgrind.trained import KERNELS as TRAINED

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ["network", *(variant.name for variants in VARIANTS.values() for variant in variants)]

# Oclgrind 21.10 does not know LLVM's `freeze`, which the optimiser makes of x / n beside x % n.
BUILD_OPTIONS = "-cl-opt-disable"


def watch(log: Path, script: str, *arguments: str) -> str:
    """What the script prints. Oclgrind writes what it finds into `log`; the exit code is the script's."""
    if not shutil.which("oclgrind"):
        pytest.skip("Oclgrind is not installed (on Debian: apt install oclgrind)")
    oclgrind = ["oclgrind", "--data-races", "--uninitialized", "--build-options", BUILD_OPTIONS, "--log", str(log)]
    log.touch()
    command = [*oclgrind, sys.executable, "-m", f"tests.engine.oclgrind.{script}", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "OCL_ICD_VENDORS"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr + log.read_text()[:3000]
    return done.stdout


@pytest.mark.parametrize("kernel", KERNELS)
def test_oclgrind_finds_nothing(kernel: str, tmp_path: Path) -> None:
    runs = watch(tmp_path / "log", "watched", kernel).splitlines()

    assert (tmp_path / "log").read_text()[:3000] == ""
    assert runs, f"{kernel} can compute nothing that is in tests/engine/oclgrind/cases.py: add what it can"
    assert {run.split()[0] for run in runs} == {kernel}


def test_oclgrind_finds_nothing_in_training(tmp_path: Path) -> None:
    runs = watch(tmp_path / "log", "trained").splitlines()

    assert (tmp_path / "log").read_text()[:3000] == ""
    assert {run.split()[0] for run in runs} == {kernel.__name__ for kernel in TRAINED}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("beyond", "Invalid read of size"),
        ("race", "Write-write data race"),
        ("unwritten", "Uninitialized value written to global memory"),
    ],
)
def test_oclgrind_would_find_a_fault(fault: str, message: str, tmp_path: Path) -> None:
    watch(tmp_path / "log", "faulty", fault)

    assert message in (tmp_path / "log").read_text()
