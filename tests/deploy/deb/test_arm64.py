"""What is in the package for arm64, in an emulated Debian without a network, on PoCL."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.deploy.deb.build import build
from tools.deb.release import RELEASES

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-arm64")
NO_EMULATION = 77
LIMIT_S = 840  # less than a test may take: it took 99 s on a quiet machine
DEMO = "uname -m >&2; edged demo --count 20 --json --set 'workers=[{device: cpu}]'"  # NumPy does not stand in


@pytest.mark.deep
def test_the_demo_is_right_on_an_arm_processor(tmp_path: Path) -> None:
    package = build(tmp_path, RELEASES[0], "arm64")

    command = ["tests/deploy/deb/arm64.sh", str(FOLDER), str(package), DEMO]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    if done.returncode == NO_EMULATION:
        pytest.skip(done.stderr.splitlines()[-1].removeprefix("edged: "))
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["predictions"], summary["accuracy"]) == (20, 1.0)
    assert "aarch64" in done.stderr.splitlines()
    assert "is ready: digits on pthread" in done.stderr  # PoCL's name of it, not NumPy
