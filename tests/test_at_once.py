"""A failure is printed when it happens."""

import subprocess
import sys
from itertools import takewhile

import pytest

from tests.conftest import ROOT

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.at_once import AtOnce

def pytest_configure(config):
    config.pluginmanager.register(AtOnce(config))
"""

TESTS = """
import signal

def test_that_fails():
    print("said " * 3)
    assert 1 == 2

def test_that_never_ends():
    signal.pause()
"""


@pytest.mark.deep
@pytest.mark.parametrize("processes", [[], ["--numprocesses", "1"]], ids=["one process", "a worker"])
def test_a_run_that_does_not_end_has_said_what_failed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, processes: list[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)

    command = [sys.executable, "-m", "pytest", *processes]
    run = pytester.popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    try:
        output = run.stdout
        assert output is not None
        lines = iter(lambda: bytes(output.readline()).decode(), "")
        said = "".join(takewhile(lambda line: "said said said" not in line, lines))
    finally:
        run.kill()
        run.communicate()

    assert "test_that_fails: failed at its call, after 0 s" in said
    assert "assert 1 == 2" in said
