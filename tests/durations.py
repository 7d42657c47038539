"""The expected time of each deep test, kept in `tests/durations.json`, by which a bounded part of them is chosen.

pytest-split keeps a time for each parameter of every test, thousands of lines, and knows no tests that come first.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

DURATIONS = "tests/durations.json"  # below the root
UNKNOWN_S = 20.0  # of a deep test that has never been timed
NOISE = 0.25  # a time that differs by less is left as it is


def function_of(nodeid: str) -> str:
    """Return a test's function: its name without the parameters."""
    return nodeid.partition("[")[0]


def read(root: Path) -> dict[str, float]:
    """Return the seconds of each deep function, all its parameters together; empty where none are kept."""
    path = root / DURATIONS
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def renewed(kept: Mapping[str, float], measured: Mapping[str, float], root: Path) -> dict[str, float]:
    """Return the times that are to be kept: the measured ones where they differ, without tests that are gone."""
    times = dict(kept)
    for name, seconds in measured.items():
        if abs(seconds - times.get(name, 0.0)) > max(1.0, NOISE * times.get(name, 0.0)) or name not in times:
            times[name] = round(seconds, 1)
    return {name: times[name] for name in sorted(times) if _exists(name, root)}


def _exists(function: str, root: Path) -> bool:
    file, _, name = function.partition("::")
    return f"def {name.rpartition('::')[2]}(" in _source(root / file)


@cache
def _source(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


class Durations:
    """Times the deep tests of a run and renews the file."""

    def __init__(self, config: pytest.Config) -> None:
        self._root = config.rootpath
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the time of each stage, its fixtures' too."""
        if "deep" in report.keywords and not report.skipped:
            self._seconds[function_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        times = renewed(read(self._root), self._seconds, self._root)
        (self._root / DURATIONS).write_text(json.dumps(times, indent=0) + "\n")
