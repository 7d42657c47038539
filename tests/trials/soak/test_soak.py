"""A short soak; `make soak` runs long ones."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.e2e.broker import has_broker
from tests.nats_server import has_nats_server

pytestmark = pytest.mark.deep


def test_a_daemon_goes_on_after_each_of_some_faults_and_loses_nothing() -> None:
    command = [sys.executable, "-m", "trials.soak", "--minutes", "0.3", "--seed", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_hour_with_bridges_and_view_in_short() -> None:
    has_broker()
    has_nats_server()
    command = [sys.executable, "-m", "trials.soak.endurance", "--minutes", "0.3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "worker 0" in done.stdout
