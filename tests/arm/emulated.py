"""Commands in a root of Debian for arm64, emulated by QEMU."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-arm")
NO_EMULATION = 77


def on_arm(*command: str, features: str, environment: Mapping[str, str] | None = None) -> str:
    """What a command writes there."""
    done = subprocess.run(
        ["tools/arm_root.sh", str(FOLDER), features, *command],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    if done.returncode == NO_EMULATION:
        pytest.skip(done.stderr.splitlines()[-1].removeprefix("edged: "))
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout
