"""The two tiers of tests: what a run left out, and how to run it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

DEEP_COUNT = "edged_deep_tests_left_out"  # what a process of pytest-xdist hands to the first


class NotRun:
    """Counts the deep tests that a run leaves out, in whatever process, and reports them and the skipped ones."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._deep = 0

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the deep ones."""
        self._deep += sum(item.get_closest_marker("deep") is not None for item in items)

    def pytest_sessionfinish(self) -> None:
        """Hand the count to the process that prints the summary."""
        if (output := getattr(self._config, "workeroutput", None)) is not None:
            output[DEEP_COUNT] = self._deep

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the count of a process that has ended; each of them collects the same tests."""
        self._deep = max(self._deep, getattr(node, "workeroutput", {}).get(DEEP_COUNT, 0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was not run, the last words of a run but its counts."""
        skipped = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])]
        terminalreporter.section("not run")
        for line in summary(self._deep, skipped):
            terminalreporter.write_line(line)


def summary(deep: int, skipped: Sequence[str]) -> list[str]:
    """What was not run: the number of deep tests, and of skipped tests for each reason."""
    lines = [f"{deep} deep tests, which are slow: make test-all runs them"] if deep else []
    reasons = Counter(reason.removeprefix("Skipped: ") for reason in skipped)
    lines += [f"{count} skipped: {reason}" for reason, count in reasons.most_common()]
    return lines or ["nothing was left out"]
