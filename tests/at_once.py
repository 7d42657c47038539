"""Prints a failure when it happens: a run that is cut before its summary still says what failed, and why."""

import pytest

LINES = 60  # of the end of a report; the summary has the whole


class AtOnce:
    """Prints the end of each failure's report, in the process that prints the results."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print what failed, at which stage, and the last lines of the reason and of what was captured."""
        printer: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        if printer is None or not report.failed:  # a process of pytest-xdist prints nothing
            return
        printer.write_line(f"\n{report.nodeid}: failed at its {report.when}, after {report.duration:.0f} s")
        for line in _end(report):
            printer.write_line(f"  {line}")
        printer.flush()


def _end(report: pytest.TestReport) -> list[str]:
    captured = "\n".join(f"{title}\n{text}" for title, text in report.sections if text.strip())
    return [*report.longreprtext.splitlines()[-LINES:], *captured.splitlines()[-LINES:]]
