"""The dot products of Arm processors, emulated by QEMU: the same bits, or left out with the reason."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from edged.engine.instructions import ARM_DOT, ARM_I8MM
from tests.conftest import ROOT

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "edged-arm")
NO_EMULATION = 77

pytestmark = pytest.mark.deep


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


def test_both_instructions_give_the_bits_of_the_reference() -> None:
    tests = "tests/engine/test_quantized_dot.py"
    chosen = f"({ARM_DOT} or {ARM_I8MM}) and (exact and 4- or tile)"
    pytest_there = ("python3", "-m", "pytest", "-v", "-p", "no:cacheprovider", "-n", "2", tests, "-k", chosen)

    written = on_arm(*pytest_there, features=f"{ARM_DOT} {ARM_I8MM}")

    for name in (ARM_DOT, ARM_I8MM):
        assert len(re.findall(rf"PASSED .*{name}", written)) > 10


def test_a_processor_without_them_is_found_out() -> None:
    written = on_arm(
        *("python3", "-m", "edged", "devices"), features=ARM_DOT, environment={"QEMU_CPU": "cortex-a57"}
    )

    assert f"no use of {ARM_DOT}: the driver ended its process by SIGILL" in written


def test_a_processor_with_one_of_them_uses_it() -> None:
    written = on_arm(
        *("python3", "-m", "edged", "devices"), features=ARM_DOT, environment={"QEMU_CPU": "cortex-a76"}
    )

    assert f"multiplies small numbers by {ARM_DOT}" in written
