"""The times of deep tests that a run keeps."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.durations import DURATIONS, read, renewed

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.durations import Durations

def pytest_configure(config):
    config.addinivalue_line("markers", "deep: slow")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config))
"""

TESTS = """
import pytest

@pytest.mark.deep
@pytest.mark.parametrize("number", range(2))
def test_slow(number):
    pass

def test_quick():
    pass
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("def test_one():\n    pass\n\ndef test_two():\n    pass\n")
    return tmp_path


ONE, TWO, GONE = "tests/test_a.py::test_one", "tests/test_a.py::test_two", "tests/test_a.py::test_gone"


def test_a_time_is_renewed_where_it_differs_by_more_than_chance(checkout: Path) -> None:
    kept = {ONE: 10.0, TWO: 10.0}
    assert renewed(kept, {ONE: 11.04, TWO: 20.04}, checkout) == {ONE: 10.0, TWO: 20.0}


def test_a_new_test_is_kept_and_one_that_is_gone_is_not(checkout: Path) -> None:
    assert renewed({GONE: 5.0, TWO: 7.0}, {ONE: 0.04}, checkout) == {ONE: 0.0, TWO: 7.0}


@pytest.mark.parametrize(
    "processes", [[], ["-p", "xdist", "--numprocesses", "1"]], ids=["one process", "a worker"]
)
def test_a_run_keeps_the_times_of_its_deep_functions(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, processes: list[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(CONFTEST)
    tests = pytester.path / "tests"
    tests.mkdir()
    (tests / "test_it.py").write_text(TESTS)

    pytester.runpytest_subprocess("tests", *processes).assert_outcomes(passed=3)

    assert json.loads((pytester.path / DURATIONS).read_text()).keys() == {"tests/test_it.py::test_slow"}


def test_every_kept_time_is_that_of_a_test() -> None:
    times = read(ROOT)
    assert renewed(times, {}, ROOT) == times, "run: make test-all"
