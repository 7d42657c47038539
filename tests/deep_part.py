"""Chooses the deep tests that a commit's run has time for: those of recent changes, then a slice of all others.

The commit's hash chooses the slice, so that a few commits run all of them. No test begins that is expected to end
too late: on a slow machine some of the chosen ones are left out.
"""

import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.durations import UNKNOWN_S, function_of, read

COMMITS = 60  # whose changes count as recent
CHANGED_SHARE = 1 / 4  # of the time, at most, for the tests of what changed; the rest for a slice of the others
FILLED = 0.95  # of the processors' time: one process waits for the last test of the other
OUTPUT = "edged_deep_part"  # what a process of pytest-xdist hands to the first
NO_TIME = "no time left in this part of the deep tests"


class Part(NamedTuple):
    """Functions of deep tests: those of recent changes, and the slice of the others that has this number."""

    changed: tuple[str, ...]
    others: tuple[str, ...]
    number: int
    slices: int

    def __str__(self) -> str:
        return (
            f"{len(self.changed)} functions of what changed in the last {COMMITS} commits, "
            f"{len(self.others)} others (slice {self.number + 1} of {self.slices}, by the commit's hash)"
        )


def part_of(expected_s: Mapping[str, float], ages: Mapping[str, int], commit: str, budget_s: float) -> Part:
    """Choose functions within `budget_s` processor seconds.

    `expected_s`: seconds of all deep functions, in their order. `ages`: how many commits ago each path changed.
    `commit`: its hash in hexadecimal. A function that takes longer than its share of the time stays for a slice.
    """
    age_of = {name: age for name in expected_s if (age := _age(name, ages)) is not None}
    changed = _fitting(sorted(age_of, key=age_of.__getitem__), expected_s, CHANGED_SHARE * budget_s)
    others = [name for name in expected_s if name not in changed]
    left_s = budget_s - sum(expected_s[name] for name in changed)
    slices = max(1, ceil(sum(expected_s[name] for name in others) / left_s))
    first, number = divmod(int(commit, 16), slices)
    chosen = _rotated(list(_slice(others, expected_s, number, slices)), first)
    return Part(tuple(changed), tuple(chosen), number, slices)


def _fitting(names: Iterable[str], expected_s: Mapping[str, float], budget_s: float) -> list[str]:
    chosen: list[str] = []
    for name in names:
        if expected_s[name] <= budget_s:
            budget_s -= expected_s[name]
            chosen.append(name)
    return chosen


def _slice(names: Sequence[str], expected_s: Mapping[str, float], number: int, slices: int) -> Iterable[str]:
    """Return a contiguous slice: neighbours share the fixtures of their module. Each takes about as long."""
    ends = list(accumulate(expected_s[name] for name in names))
    for name, end in zip(names, ends, strict=True):
        if int((end - expected_s[name] / 2) / (ends[-1] or 1.0) * slices) == number:
            yield name


def _rotated(names: Sequence[str], first: int) -> Sequence[str]:
    """Begin with the name of this index, modulo their number.

    A slow machine does not reach the end of a slice; in a fixed order it would never run the same tests.
    """
    begin = first % max(1, len(names))
    return (*names[begin:], *names[:begin])


def _age(function: str, ages: Mapping[str, int]) -> int | None:
    """Return how many commits ago a test changed, or what it tests; None if that is longer ago."""
    return min((age for path, age in ages.items() if concerns(path, function)), default=None)


def concerns(path: str, function: str) -> bool:
    """Return whether a changed file concerns a test: its own, what its folder's tests share, or what they test."""
    file = function.partition("::")[0]
    if Path(path).name.startswith("test_"):
        return path == file
    package = file.split("/")[1:-1][:1]
    return any(path.startswith((f"tests/{name}/", f"edged/{name}/", f"{name}/")) for name in package)


def recent_changes(root: Path) -> tuple[str, dict[str, int]]:
    """Return the hash of the checkout's commit, and how many commits ago each recently changed path did so.

    Where there is no repository (an unpacked archive), the hash is 0 and nothing has changed.
    """
    command = ["git", "log", f"-{COMMITS}", "--format=commit %H", "--name-only"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    commits: list[str] = []
    ages: dict[str, int] = {}
    for line in filter(None, done.stdout.splitlines()):
        if line.startswith("commit "):
            commits.append(line.removeprefix("commit "))
        else:
            ages.setdefault(line, len(commits) - 1)
    return (commits or ["0"])[0], ages


class DeepPart:
    """Deselects what is not chosen, and skips what would begin too late."""

    def __init__(self, config: pytest.Config, minutes: float) -> None:
        self._config = config
        self._budget_s = 60 * minutes
        self._end_s = time.monotonic() + self._budget_s
        self._words = ""
        self._expected_s: dict[str, float] = {}  # of one test, by its function

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the chosen tests, those of recent changes first."""
        functions = Counter(function_of(item.nodeid) for item in items)
        times = read(self._config.rootpath)
        expected_s = {name: times.get(name, UNKNOWN_S) for name in functions}
        processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        commit, ages = recent_changes(self._config.rootpath)
        part = part_of(expected_s, ages, commit, FILLED * processes * self._budget_s)
        self._words = str(part)
        self._expected_s = {name: expected_s[name] / functions[name] for name in functions}
        place = {name: number for number, name in enumerate((*part.changed, *part.others))}
        self._config.hook.pytest_deselected(
            items=[each for each in items if function_of(each.nodeid) not in place]
        )
        items[:] = sorted(
            (item for item in items if function_of(item.nodeid) in place),
            key=lambda item: place[function_of(item.nodeid)],
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip a test that would end too late."""
        if time.monotonic() + self._expected_s[function_of(item.nodeid)] > self._end_s:
            pytest.skip(NO_TIME)

    def pytest_sessionfinish(self) -> None:
        """Hand over what was chosen to the process that prints the summary."""
        if (output := getattr(self._config, "workeroutput", None)) is not None:
            output[OUTPUT] = self._words

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what was chosen; each process chooses the same."""
        self._words = getattr(node, "workeroutput", {}).get(OUTPUT) or self._words

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was chosen."""
        terminalreporter.section("part of the deep tests")
        terminalreporter.write_line(self._words)
