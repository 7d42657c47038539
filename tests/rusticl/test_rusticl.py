"""The engine and training on Mesa's OpenCL, which boards with the open Mali driver run, in a root of Debian 13."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-rusticl")
NO_ROOT = 77
TESTS = ("-m", "not deep", "tests/engine", "tests/train", "--ignore", "tests/engine/oclgrind")


@pytest.mark.deep
def test_the_ordinary_tests_of_the_engine_and_of_training_pass_on_rusticl() -> None:
    pytest_there = ("python3", "-m", "pytest", "-v", "-p", "no:cacheprovider", "--numprocesses", "2", *TESTS)
    command = ["tools/rusticl_root.sh", str(FOLDER), *pytest_there]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)

    if done.returncode == NO_ROOT:
        pytest.skip(done.stderr.splitlines()[-1].removeprefix("edged: "))
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert len(re.findall(r"PASSED .*\[rusticl-", done.stdout)) > 300
