"""The bounded part of the deep tests: recent changes come first, the commit's hash chooses among the others."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.deep_part import NO_TIME, concerns, part_of, recent_changes
from tests.durations import DURATIONS

pytest_plugins = ["pytester"]

TIMES = {f"tests/p{number}/test_it.py::test_{letter}": 10.0 for number in range(10) for letter in "ab"}
NOTHING: dict[str, int] = {}


def commit(number: int) -> str:
    return hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    ("path", "test", "expected"),
    [
        ("tests/hub/test_a.py", "tests/hub/test_a.py::test", True),
        ("tests/hub/test_b.py", "tests/hub/test_a.py::test", False),
        ("tests/hub/running.py", "tests/hub/test_a.py::test", True),
        ("edged/hub/frames/ledger.py", "tests/hub/test_a.py::test", True),
        ("edged/worker/loop.py", "tests/hub/test_a.py::test", False),
        ("deploy/deb/rules", "tests/deploy/deb/test_a.py::test", True),
        ("tests/conftest.py", "tests/test_a.py::test", False),
        ("README.md", "tests/hub/test_a.py::test", False),
    ],
)
def test_a_test_is_concerned_by_its_file_its_neighbours_and_its_package(
    path: str, test: str, expected: bool
) -> None:
    assert concerns(path, test) is expected


def test_what_changed_comes_first_the_newest_change_before_all() -> None:
    part = part_of(TIMES, {"edged/p3/a.py": 40, "edged/p7/a.py": 2}, commit(0), 160.0)
    assert [name.split("/")[1] for name in part.changed] == ["p7", "p7", "p3", "p3"]
    assert part.others
    assert not set(part.changed) & set(part.others)


def test_the_others_keep_their_share_of_the_time_however_much_changed() -> None:
    everything = {f"edged/p{number}/a.py": number for number in range(10)}
    part = part_of(TIMES, everything, commit(0), 90.0)
    assert sum(TIMES[name] for name in part.changed) == 20.0
    assert 50.0 <= sum(TIMES[name] for name in part.others) <= 60.0


def test_each_part_fits_the_time_and_all_slices_together_are_all_tests() -> None:
    parts = [part_of(TIMES, NOTHING, f"{number:040x}", 50.0) for number in range(4)]
    assert [(part.number, part.slices) for part in parts] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert all(sum(TIMES[name] for name in part.others) == 50.0 for part in parts)
    assert sorted(name for part in parts for name in part.others) == sorted(TIMES)


def test_a_few_commits_run_all_of_them() -> None:
    run: set[str] = set()
    commits = 0
    while run != TIMES.keys():
        run.update(part_of(TIMES, NOTHING, commit(commits), 50.0).others)
        commits += 1
    assert commits <= 12


def test_a_slice_begins_elsewhere_with_each_commit_so_that_a_slow_machine_reaches_all() -> None:
    parts = [part_of(TIMES, NOTHING, f"{4 * turn:040x}", 50.0).others for turn in range(5)]
    assert {part[0] for part in parts} == set(parts[0])
    assert {frozenset(part) for part in parts} == {frozenset(parts[0])}


def test_a_test_longer_than_the_time_for_changes_is_left_to_a_slice() -> None:
    times = {**TIMES, "tests/hub/test_long.py::test": 90.0}
    parts = [part_of(times, {"edged/hub/a.py": 0}, f"{number:040x}", 100.0) for number in range(10)]
    assert all(part.changed == () for part in parts)
    assert any("tests/hub/test_long.py::test" in part.others for part in parts)


def test_recent_changes_are_those_of_the_checkouts_commits(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for name in ("old", "new"):
        (tmp_path / name).write_text(name)
        subprocess.run([*git, "add", name], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", name], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert recent_changes(tmp_path) == (head, {"new": 0, "old": 1})


def test_an_unpacked_archive_has_no_recent_changes(tmp_path: Path) -> None:
    assert recent_changes(tmp_path) == ("0", {})


CONFTEST = """
from tests.deep_part import DeepPart
from tests.tiers import NotRun

def pytest_configure(config):
    config.addinivalue_line("markers", "deep: slow")
    config.pluginmanager.register(NotRun(config, by_name=True))
    config.pluginmanager.register(DeepPart(config, minutes={minutes}))
"""

TESTS = """
import pytest

@pytest.mark.deep
@pytest.mark.parametrize("number", range(2))
def test_short(number):
    pass

@pytest.mark.deep
def test_long():
    pass

def test_ordinary():
    pass
"""


SHORT_AND_LONG = ("tests/test_it.py::test_short", "tests/test_it.py::test_long")


@pytest.fixture
def checkout(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A checkout without a repository, whose first slice has room for one of two functions."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)  # of the run that this test is a part of
    tests = pytester.path / "tests"
    tests.mkdir()
    (tests / "test_it.py").write_text(TESTS)
    (pytester.path / DURATIONS).write_text(json.dumps(dict(zip(SHORT_AND_LONG, (20.0, 50.0), strict=True))))
    return pytester


@pytest.mark.parametrize(
    "processes", [[], ["-p", "xdist", "--numprocesses", "1"]], ids=["one process", "a worker"]
)
def test_a_run_names_the_deep_tests_that_it_left_out(checkout: pytest.Pytester, processes: list[str]) -> None:
    checkout.makeconftest(CONFTEST.format(minutes=1))
    done = checkout.runpytest_subprocess("-m", "deep", "tests", *processes)
    assert done.parseoutcomes()["passed"] == 2
    done.stdout.fnmatch_lines(
        ["*0 functions of what changed*1 others (slice 1 of 2*", "1 deep tests*", "  tests/test_it.py: test_long"]
    )


SLOW = """
import time

now_s = time.monotonic

def pytest_collection_finish():
    time.monotonic = lambda: now_s() + {seconds}
"""


@pytest.mark.parametrize(("seconds", "passed"), [(0, 3), (12, 2), (60, 0)])
def test_no_test_begins_that_would_end_too_late(checkout: pytest.Pytester, seconds: int, passed: int) -> None:
    checkout.makeconftest(CONFTEST.format(minutes=1) + SLOW.format(seconds=seconds))
    (checkout.path / DURATIONS).write_text(json.dumps(dict(zip(SHORT_AND_LONG, (0.0, 50.0), strict=True))))
    done = checkout.runpytest_subprocess("-m", "deep", "tests")
    done.assert_outcomes(passed=passed, skipped=3 - passed, deselected=1)
    if seconds == 60:
        done.stdout.fnmatch_lines(["  tests/test_it.py: test_short, test_long", f"3 skipped: {NO_TIME}"])
