"""The service under systemd as PID 1, in a machine of its own: what is tested there is in inside/checks.py."""

import os
from pathlib import Path

import pytest

from tests.systemd.machine import run_checks, why_not

pytestmark = pytest.mark.deep

KILLS = int(os.environ.get("EDGED_KILLS", "10"))


def test_everything_that_must_hold_on_a_machine_does(tmp_path: Path) -> None:
    if reason := why_not():
        pytest.skip(f"no systemd-nspawn here: {reason}")
    code, output = run_checks(tmp_path, KILLS)
    print(output)
    assert code == 0, output
