"""`tools/steps.sh`: the steps of `make run` and its like say what they do, and end with it."""

import os
import signal
import subprocess
from pathlib import Path

import psutil

from tests.eventually import eventually

ROOT = Path(__file__).resolve().parents[1]


def begin(step: str) -> "subprocess.Popen[str]":
    script = f"set -euo pipefail; . tools/steps.sh; step {step}; say after"
    return subprocess.Popen(["bash", "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True)


def command_of(process: psutil.Process) -> list[str]:
    """Its words; none of one that has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_a_step_is_announced_and_its_end_too_and_what_it_writes_is_not_shown() -> None:
    _, said = begin("'installing x' echo Collecting x").communicate(timeout=60)
    first, done, after = said.splitlines()
    assert (first, after) == ("edged: installing x", "edged: after")
    assert done.startswith("edged:   done in ")


def test_what_a_step_that_fails_has_written_is_shown_and_nothing_comes_after_it() -> None:
    step = begin("'installing x' bash -c 'echo no such package; exit 7'")
    _, said = step.communicate(timeout=60)
    assert step.returncode == 7
    assert said.splitlines() == ["edged: installing x", "no such package"]


def test_ctrl_c_ends_the_step_too() -> None:
    step = begin("'installing x' sleep 600")
    shell = psutil.Process(step.pid)
    sleeps = eventually(lambda: [child for child in shell.children() if "600" in command_of(child)])
    os.kill(step.pid, signal.SIGINT)
    step.communicate(timeout=60)
    assert step.returncode == 130
    assert not sleeps[0].is_running()
