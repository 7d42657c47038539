"""A short soak; `make soak` runs long ones."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.deep


def test_a_daemon_goes_on_after_each_of_some_faults_and_loses_nothing() -> None:
    command = [sys.executable, "-m", "tests.soak", "--minutes", "0.3", "--seed", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
