"""Some of the cases of `make fuzz`: each ends in an answer or one clear error, soon, in bounded memory."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT

CASES = {
    "onnx": 1000,
    "configs": 1000,
    "journals": 200,
    "messages": 10_000,
    "caches": 300,
    "records": 1000,
    "teachings": 100,
}  # the same each time


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "cases"), CASES.items())
def test_bad_input_ends_in_an_answer_or_one_clear_error(kind: str, cases: int) -> None:
    # a process of its own: its memory is bounded, and what it measures is its own
    command = [sys.executable, "-W", "ignore", "-m", "trials.fuzz", kind, "--cases", str(cases)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{kind}: {cases} cases" in ended.stdout
