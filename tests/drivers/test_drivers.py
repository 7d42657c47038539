"""The engine and training on OpenCL drivers of other releases of Debian and Ubuntu, each in a root of its own.

Mesa's rusticl is what boards with the open Mali driver run; PoCL 5, 6 and 7 compile otherwise than 3.1.
rusticl runs the ordinary tests but whole trainings, PoCL what depends on its version; both run all ordinary tests
with `EDGED_DRIVERS=all`. All run the deep tests of dot products, quantized networks and compositions.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from edged.engine.instructions import KHR_DOT
from tests.conftest import ROOT

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-opencl")
NO_ROOT = 77
PYTEST = ("python3", "-m", "pytest", "-v", "-p", "no:cacheprovider", "--numprocesses", "2", "--dist", "worksteal")
ALL = ("tests/engine", "tests/train", "--ignore", "tests/engine/oclgrind")
# A driver is judged by batches: whole trainings took half of llvmpipe's time.
WITHOUT_TRAININGS = (*ALL, "-k", "not learns_mnist and not nothing_gets_better")
# whole networks, compositions, instructions that are tried, compilers in a process of their own
OF_A_VERSION = tuple(
    f"tests/engine/test_{name}.py"
    for name in (
        "one_launch",
        "one_thread",
        "host_step",
        "quantized_dot",
        "quantized_networks",
        "light_models",
        "compile_apart",
    )
)
DEEP = tuple(
    f"tests/engine/test_{name}.py" for name in ("one_launch", "one_thread", "quantized_dot", "quantized_networks")
)
OF_RUSTICL, OF_POCL = (ALL, ALL) if os.environ.get("EDGED_DRIVERS") == "all" else (WITHOUT_TRAININGS, OF_A_VERSION)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("release", "driver", "tests", "least"),
    [
        ("trixie", "rusticl", OF_RUSTICL, 300),
        ("noble", "pocl", OF_POCL, 40),
        ("trixie", "pocl", OF_POCL, 40),
        ("forky", "pocl", OF_POCL, 40),
    ],
    ids=["rusticl of Debian 13", "PoCL 5 of Ubuntu 24.04", "PoCL 6", "PoCL 7"],
)
def test_the_tests_pass_on_this_driver(release: str, driver: str, tests: tuple[str, ...], least: int) -> None:
    printed = passed(release, driver, "-m", "not deep", *tests) + passed(release, driver, "-m", "deep", *DEEP)

    on_it = "rusticl" if driver == "rusticl" else "Portable_Computing_Language"
    assert len(re.findall(rf"PASSED .*\[{on_it}-", printed)) > least
    if driver == "rusticl":
        assert len(re.findall(rf"PASSED .*{KHR_DOT}", printed)) > 10


def passed(release: str, driver: str, *tests: str) -> str:
    """Run tests on a driver of a release and return what pytest prints; skipped where its root cannot be made."""
    command = ["tools/opencl_root.sh", str(FOLDER), release, driver, *PYTEST, *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode == NO_ROOT:
        pytest.skip(done.stderr.splitlines()[-1].removeprefix("edged: "))
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout
