"""What an operator reads on the terminal and in the journal."""

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from edged.system.log import KNOWN, SHOWN, Sparing
from tests.eventually import LIMIT_S

SCRIPT = """
import logging
from edged.system import log
log.configure({level!r})
log.configure({level!r})
logger = logging.getLogger("edged.hub")
logger.debug("quiet")
logger.info("camera door: up")
logger.warning("camera door: lost\\nforged line")
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("a bug")
"""


def lines_of(tmp_path: Path, journal: bool, level: str = "info", **variables: str) -> list[str]:
    target = tmp_path / "stderr"
    with target.open("wb") as stderr:
        status = os.fstat(stderr.fileno())
        stream = f"{status.st_dev}:{status.st_ino}" if journal else "1:2"
        environment = os.environ | {"JOURNAL_STREAM": stream} | variables
        script = SCRIPT.format(level=level)
        subprocess.run([sys.executable, "-c", script], stderr=stderr, env=environment, check=True, timeout=LIMIT_S)
    return target.read_text().splitlines()


def test_terminal_shows_each_event_once_on_one_line_with_its_time(tmp_path: Path) -> None:
    info, warning, error, *traceback = lines_of(tmp_path, journal=False)
    assert info[8:] == " camera door: up"
    assert warning[8:] == " warning: camera door: lost forged line"
    assert error[8:] == " error: a bug"
    assert traceback[-1] == "ZeroDivisionError: division by zero"


def test_journal_gets_a_priority_on_every_line(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, journal=True)
    assert lines[:3] == ["<6>camera door: up", "<4>camera door: lost forged line", "<3>a bug"]
    assert all(line.startswith("<3>") for line in lines[2:])


def test_level_decides_what_is_shown(tmp_path: Path) -> None:
    assert "quiet" in lines_of(tmp_path, journal=False, level="debug")[0]
    assert "warning" in lines_of(tmp_path, journal=False, level="warning")[0]


def test_a_line_is_a_json_object_where_that_is_wanted(tmp_path: Path) -> None:
    info, warning, error = map(json.loads, lines_of(tmp_path, journal=False, EDGED_LOG_FORMAT="json"))
    assert info["message"] == "camera door: up"
    assert datetime.fromisoformat(info["time"]).utcoffset() == timedelta(0)
    assert (warning["level"], warning["logger"]) == ("warning", "edged.hub")
    assert warning["message"] == "camera door: lost\nforged line"
    assert error["traceback"].endswith("ZeroDivisionError: division by zero")
    assert info["pid"] == error["pid"] > 0


def test_a_json_object_keeps_its_priority_for_the_journal(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, journal=True, EDGED_LOG_FORMAT="json")
    assert [line[:3] for line in lines] == ["<6>", "<4>", "<3>"]
    assert json.loads(lines[1][3:])["level"] == "warning"


class Page(logging.Handler):
    """What was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.times: list[float] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.times.append(record.created)
        self.lines.append(record.getMessage())


class Reader:
    """A logger, its page, and a clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0
        self.page = Page()
        self.handler = Sparing(self.page, lambda: self.now)
        self.log = logging.Logger("edged.hub")
        self.log.addHandler(self.handler)


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    reader.handler.close()


def test_different_events_are_all_shown(reader: Reader) -> None:
    for camera in range(100):
        reader.log.warning("camera door-%d is down", camera)
    assert len(reader.page.lines) == 100


def test_a_flood_is_a_few_lines_and_then_its_count(reader: Reader) -> None:
    for _ in range(1000):
        reader.log.warning("camera door is down")
    assert reader.page.lines == ["camera door is down"] * SHOWN
    reader.now = 60
    reader.log.info("camera gate is up")
    assert reader.page.lines[SHOWN:] == [
        f"camera door is down … repeated {1000 - SHOWN} times in the last 60 s",
        "camera gate is up",
    ]


def test_after_a_minute_it_is_shown_again(reader: Reader) -> None:
    reader.log.warning("camera door is down")
    reader.now = 61
    reader.log.warning("camera door is down")
    assert reader.page.lines == ["camera door is down"] * 2


def test_the_same_with_another_pause_is_the_same(reader: Reader) -> None:
    for pause in range(SHOWN + 3):
        reader.log.warning("camera door was killed; it starts again in %g s", pause / 2)
    assert len(reader.page.lines) == SHOWN


@pytest.mark.parametrize(
    "figures",
    [
        "the hub paused for {} s: it was stopped",
        "the journal is {}% full",
        "{} predictions were dropped",
        "lost {}, and more",
    ],
)
def test_the_same_with_other_figures_is_the_same(reader: Reader, figures: str) -> None:
    for number in range(SHOWN + 3):
        reader.log.warning(figures.format(number * 500 / 8 if number % 2 else f"{number * 1500:,}"))

    assert len(reader.page.lines) == SHOWN


@pytest.mark.parametrize(
    "name", ["camera 1{} is down", "door-1{} is down", "tcp://127.0.0.1:94{} is lost", "ended with status 1{}"]
)
def test_the_same_of_another_name_is_another(reader: Reader, name: str) -> None:
    for number in range(SHOWN + 3):
        reader.log.warning(name.format(number))

    assert len(reader.page.lines) == SHOWN + 3


def test_the_count_has_the_time_at_which_it_is_logged(reader: Reader) -> None:
    for _ in range(SHOWN + 1):
        reader.log.warning("camera door is down")
    reader.log.warning("camera gate is down")
    before = time.time()

    reader.now = 61
    reader.log.warning("camera gate is up")

    assert "repeated 1 time" in reader.page.lines[-2]
    assert before <= reader.page.times[-2]


def test_the_count_is_logged_at_the_end(reader: Reader) -> None:
    for _ in range(SHOWN + 2):
        reader.log.error("%d %% full", 100)
    reader.now = 7
    reader.handler.close()
    assert reader.page.lines[-1] == "100 % full … repeated 2 times in the last 7 s"


def test_memory_is_bounded_whatever_is_said(reader: Reader) -> None:
    for number in range(10 * KNOWN):
        reader.log.warning("peer %d was rejected", number)
    assert len(reader.handler._logged) <= KNOWN
