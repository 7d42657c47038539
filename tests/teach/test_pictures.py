"""Small pictures in a terminal, and on a sheet."""

import io

import cv2
import numpy as np
import pyte

from edged.teach.pictures import contact_sheet, in_terminal, shows_colours, side_by_side
from tests.teach.crops import shape


class Terminal(io.StringIO):
    def __init__(self, encoding: str = "utf-8", is_one: bool = True) -> None:
        super().__init__()
        self._encoding, self._is_one = encoding, is_one

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._is_one


def test_a_character_shows_two_pixels() -> None:
    picture = np.zeros((4, 4, 3), np.uint8)
    picture[:2, :2], picture[2:, 2:] = (255, 0, 0), (0, 0, 255)
    screen = pyte.Screen(4, 2)

    pyte.Stream(screen).feed("\r\n".join(in_terminal(picture, 4)))

    assert screen.display == ["▀▀▀▀", "▀▀▀▀"]
    assert [screen.buffer[0][column].fg for column in range(4)] == ["ff0000", "ff0000", "000000", "000000"]
    assert [screen.buffer[1][column].bg for column in range(4)] == ["000000", "000000", "0000ff", "0000ff"]


def test_pictures_stand_side_by_side() -> None:
    rows = side_by_side([shape("disc", 0), shape("bar", 0)[:60]], 12)
    assert len(rows) == 6
    assert side_by_side([], 12) == []


def test_colours_are_shown_where_a_terminal_says_that_it_can() -> None:
    can = {"COLORTERM": "truecolor"}
    assert shows_colours(Terminal(), can)
    assert not shows_colours(Terminal(), {})
    assert not shows_colours(Terminal(), can | {"NO_COLOR": "1"})
    assert not shows_colours(Terminal("ascii"), can)
    assert not shows_colours(Terminal(is_one=False), can)


def test_a_sheet_has_every_crop_under_its_label() -> None:
    crops = [(shape("disc", seed), seed == 0) for seed in range(13)]

    sheet = cv2.imdecode(np.frombuffer(contact_sheet({"disc": crops, "bar": crops[:1]}), np.uint8), 1)

    assert sheet is not None
    assert sheet.shape == ((24 + 2 * 68) + (24 + 68), 4 + 12 * 68, 3)
