"""Runs each test that failed once more, alone, when all others have ended.

A test that passes then is flaky: it is reported with its first failure, kept in a file, and does not fail the run.
pytest-rerunfailures repeats a test at once, beside the same load, and forgets the first failure.
"""

import os
import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

FLAKY = ".ci/flaky.txt"  # below the root; `make test` begins it anew, each run of pytest in it adds to it
MOST_FLAKY = 5  # in that file: more fail the run
MOST_TRIES = 20  # more failures than this are no matter of chance
WITHOUT_CLOCK = tuple(f"tests/{folder}/" for folder in ("conformance", "engine", "model", "train"))
MARK = "flaky: "
OF_THIS_RUN = ("PYTEST_ADDOPTS", "PYTEST_XDIST")  # what a test that runs alone must not inherit


class SecondTry:
    """Keeps the first failure of each test, and judges the failed ones when the session ends."""

    def __init__(self, config: pytest.Config) -> None:
        self._root = config.rootpath
        self._options = [f"-W{each}" for each in config.getoption("pythonwarnings") or ()]
        self._options += [f"-o{each}" for each in config.getoption("override_ini") or ()]
        self._failures: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the report of a failure, at whatever stage of the test."""
        if report.failed:
            sections = [f"{title}\n{text}" for title, text in report.sections if text.strip()]
            self._failures.setdefault(report.nodeid, "\n".join([report.longreprtext, *sections]))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Give the failed tests their second try when all processes have ended, before the summary is printed."""
        yield
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and self._failures and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
            self._judge(session, reporter)

    def _judge(self, session: pytest.Session, reporter: pytest.TerminalReporter) -> None:
        """Let the run pass where all tests that failed are flaky, and those are few."""
        reporter.section("second try")
        flaky = [name for name in self._candidates(reporter) if self._passes_alone(name, reporter)]
        _move_reports(reporter, flaky)
        kept = self._keep(flaky, reporter)
        if reporter.stats.get("failed") or reporter.stats.get("error"):
            return
        if kept > MOST_FLAKY:
            reporter.write_line(f"{kept} flaky tests in {FLAKY}, at most {MOST_FLAKY}: the run fails", red=True)
            return
        session.exitstatus = pytest.ExitCode.OK

    def _candidates(self, reporter: pytest.TerminalReporter) -> Sequence[str]:
        if len(self._failures) > MOST_TRIES:
            reporter.write_line(f"{len(self._failures)} tests failed, more than {MOST_TRIES}: no second try")
            return ()
        return [name for name in self._failures if not name.startswith(WITHOUT_CLOCK)]

    def _passes_alone(self, name: str, reporter: pytest.TerminalReporter) -> bool:
        reporter.write_line(f"{name}: runs once more, alone")
        reporter.flush()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *self._options, name],
            cwd=self._root,
            env={name: value for name, value in os.environ.items() if not name.startswith(OF_THIS_RUN)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        passed = done.returncode == 0 and re.search(r"^[1-9]\d* passed", done.stdout, re.MULTILINE)
        if not passed:
            reporter.write_line(done.stdout)
        return bool(passed)

    def _keep(self, flaky: Sequence[str], reporter: pytest.TerminalReporter) -> int:
        """Report the flaky tests and add them to the file. Return how many it holds."""
        path = Path(self._root, FLAKY)
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            for name in flaky:
                failure = self._failures[name]
                words = f"{failure}\n{MARK}{name}, first failure: {_reason(failure)}"
                reporter.write_line(words)
                file.write(f"{words}\n\n")
        return sum(line.startswith(MARK) for line in path.read_text().splitlines())


def _reason(failure: str) -> str:
    """Return the first line of pytest's explanation, or the last line where there is none."""
    lines = [line for line in failure.splitlines() if line.strip()] or ["no report"]
    return next((line.removeprefix("E").strip() for line in lines if line.startswith("E ")), lines[-1])


def _move_reports(reporter: pytest.TerminalReporter, flaky: Sequence[str]) -> None:
    """Count the failures of flaky tests as flaky, so that the summary lists the others alone."""
    for kind in ("failed", "error"):
        reports = reporter.stats.pop(kind, [])
        moved = [report for report in reports if report.nodeid in flaky]
        left = [report for report in reports if report.nodeid not in flaky]
        if left:
            reporter.stats[kind] = left
        if moved:
            reporter.stats.setdefault("flaky", []).extend(moved)
