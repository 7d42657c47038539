"""What is in the package for arm64, in an emulated Debian without a network, on PoCL."""

import json
import os
import subprocess
from itertools import islice
from pathlib import Path

import pytest

from edged.camera.sources.synthetic import draw_pictures
from tests.camera.pictures import write_picture
from tests.conftest import ROOT
from tests.deploy.deb.build import build
from tools.deb.release import RELEASES

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-arm64")
NO_EMULATION = 77
LIMIT_S = 840  # less than a test may take: it took 99 s on a quiet machine
DEMO = "edged demo --count 20 --json --set cameras.demo.source=/pictures --set cameras.demo.pace=fast"
COMMAND = f"uname -m >&2; {DEMO} --set 'workers=[{{device: cpu}}]'"  # NumPy does not stand in


def write_digits(folder: Path, count: int) -> Path:
    """Write the demo's first pictures, one a second, each into a sub-folder that its truth names."""
    for index, picture in enumerate(islice(draw_pictures(seed=1, width=640, height=480, fps=1), count)):
        assert picture.truth is not None
        write_picture(folder / picture.truth / f"{index:02}.png", picture.pixels)
    return folder


@pytest.mark.deep
def test_the_demo_is_right_on_an_arm_processor(tmp_path: Path) -> None:
    package = build(tmp_path, RELEASES[0], "arm64")
    # files, because each is read: which of the drawn pictures are replaced depends on the emulation's speed
    pictures = write_digits(tmp_path / "pictures", 20)

    command = ["tests/deploy/deb/arm64.sh", str(FOLDER), str(package), str(pictures), COMMAND]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    if done.returncode == NO_EMULATION:
        pytest.skip(done.stderr.splitlines()[-1].removeprefix("edged: "))
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["predictions"], summary["accuracy"]) == (20, 1.0)
    assert "aarch64" in done.stderr.splitlines()
    assert "is ready: digits on pthread" in done.stderr  # PoCL's name of it, not NumPy
