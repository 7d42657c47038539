"""What an operator reads when the same thing happens again and again."""

import logging
from collections.abc import Iterator

import pytest

from edged.system.log import KNOWN, SHOWN, Sparing


class Page(logging.Handler):
    """What was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
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
