"""A short soak; `make soak` runs long ones."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.camera.rtsp import skip_without_gstreamer
from tests.conftest import ROOT
from tests.e2e.broker import has_broker
from tests.nats_server import has_nats_server

pytestmark = pytest.mark.deep


def test_a_daemon_goes_on_after_each_of_some_faults_and_loses_nothing() -> None:
    command = [sys.executable, "-m", "trials.soak", "--minutes", "0.3", "--seed", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_detector_finds_the_same_before_and_after_faults(shared_data: Path) -> None:
    skip_without_gstreamer()
    folder = shared_data / "detection"
    options = ["--model", str(folder / "FastestDet.onnx"), "--pictures", str(folder / "pictures")]
    command = [sys.executable, "-m", "trials.soak", "--minutes", "0.5", "--seed", "3", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_hour_with_bridges_and_view_in_short() -> None:
    has_broker()
    has_nats_server()
    command = [sys.executable, "-m", "trials.soak.endurance", "--minutes", "0.3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "worker 0" in done.stdout
