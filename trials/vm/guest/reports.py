"""Tells the host what became of each test, as soon as it is known."""

import json
import subprocess
from pathlib import Path

import pytest

from trials.vm.guest.listener import Heard

PORT = Path("/dev/virtio-ports/edged.reports")
JOURNAL_LINES = 200
PROMISED_S = 3.0  # within which a loss is told, and a return seen
MAX_AGE_S = 0.5  # the default of freshness.max_age_s


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """One line of JSON for each test: its end, or what went wrong before or after it."""
    if report.when == "call" or report.outcome != "passed":
        told = {
            "name": report.nodeid.rpartition("/")[2],
            "outcome": report.outcome,
            "seconds": report.duration,
            "words": _words(report),
        }
        with PORT.open("w") as port:
            port.write(json.dumps(told) + "\n")


def _words(report: pytest.TestReport) -> str:
    """Why it failed or was skipped, with the service's last lines; else what it has printed."""
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    if report.passed:
        return report.capstdout
    command = ("journalctl", "--unit=edged", "--output=short-precise", "--no-hostname", f"--lines={JOURNAL_LINES}")
    journal = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return f"{report.longreprtext}\n{report.capstdout}\n{journal}"


def captured_at(prediction: Heard) -> float:
    """By the wall clock."""
    return float(prediction.fields["captured_at"])


def age_s(prediction: Heard) -> float:
    """From the capture to the publication, while nobody sets the clock."""
    return float(prediction.fields["published_at"]) - captured_at(prediction)
