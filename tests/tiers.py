"""The two tiers of tests: what a run left out, and how to run it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from tests.deep_part import NO_TIME
from tests.durations import function_of

DEEP_LEFT_OUT = "edged_deep_tests_left_out"  # what a process of pytest-xdist hands to the first


class NotRun:
    """Notes the deep tests that a run leaves out, in whatever process, and reports them and the skipped ones.

    `by_name`: by their names, as a run does that was to run a part of them; else their number.
    """

    def __init__(self, config: pytest.Config, by_name: bool = False) -> None:
        self._config = config
        self._by_name = by_name
        self._deep: list[str] = []

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note the deep ones."""
        self._deep += [item.nodeid for item in items if item.get_closest_marker("deep")]

    def pytest_sessionfinish(self) -> None:
        """Hand the names to the process that prints the summary."""
        if (output := getattr(self._config, "workeroutput", None)) is not None:
            output[DEEP_LEFT_OUT] = self._deep

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the names from a process that has ended; each of them collects the same tests."""
        self._deep = getattr(node, "workeroutput", {}).get(DEEP_LEFT_OUT, []) or self._deep

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was not run, the last words of a run but its counts."""
        skipped = terminalreporter.stats.get("skipped", [])
        reasons = [str(report.longrepr[2]) for report in skipped]
        terminalreporter.section("not run")
        late = [report.nodeid for report in skipped if NO_TIME in str(report.longrepr)]
        for line in summary([*self._deep, *late] if self._by_name else self._deep, reasons, self._by_name):
            terminalreporter.write_line(line)


def summary(deep: Sequence[str], skipped: Sequence[str], by_name: bool = False) -> list[str]:
    """What was not run: the deep tests, and the number of skipped tests for each reason."""
    lines = [f"{len(deep)} deep tests, which are slow: make test-all runs them"] if deep else []
    if by_name:
        lines += [f"  {file}: {', '.join(tests)}" for file, tests in _by_file(deep)]
    reasons = Counter(reason.removeprefix("Skipped: ") for reason in skipped)
    lines += [f"{count} skipped: {reason}" for reason, count in reasons.most_common()]
    return lines or ["nothing was left out"]


def _by_file(tests: Iterable[str]) -> Iterable[tuple[str, Iterable[str]]]:
    """Return the functions of tests by their files, each once."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for test in tests:
        file, _, function = function_of(test).partition("::")
        found[file][function] = None
    return sorted(found.items())
