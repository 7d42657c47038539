"""Each tier says what it did not run, in one process and in several."""

import pytest

from tests.conftest import ROOT
from tests.tiers import summary

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.tiers import NotRun

def pytest_configure(config):
    config.addinivalue_line("markers", "deep: slow")
    config.pluginmanager.register(NotRun(config))
"""

TESTS = """
import pytest

def test_ordinary():
    pass

@pytest.mark.deep
@pytest.mark.parametrize("number", range(3))
def test_slow(number):
    pass

@pytest.mark.parametrize("number", range(2))
def test_elsewhere(number):
    pytest.skip("no GPU")
"""


@pytest.mark.deep
@pytest.mark.parametrize("processes", [[], ["--numprocesses", "2"]], ids=["one process", "two processes"])
def test_the_ordinary_tier_counts_what_it_leaves_out(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, processes: list[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)

    ordinary = pytester.runpytest_subprocess("-m", "not deep", *processes)
    ordinary.assert_outcomes(passed=1, skipped=2, deselected=0 if processes else 3)
    ordinary.stdout.fnmatch_lines(["*3 deep tests*make test-all*", "2 skipped: no GPU"])

    everything = pytester.runpytest_subprocess(*processes)
    everything.assert_outcomes(passed=4, skipped=2)
    everything.stdout.no_fnmatch_line("*deep tests*")


def test_a_run_that_left_nothing_out_says_so() -> None:
    assert summary([], []) == ["nothing was left out"]
