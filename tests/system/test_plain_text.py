"""Text of others does not steer a terminal."""

import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.cli.subscribe import line
from edged.cli.teach.shadow import ShadowTally
from edged.errors import ConfigError
from edged.hub.frames.ledger import Ledger
from edged.hub.stats.summary import Tally, camera_line
from edged.messages import Label, Prediction
from edged.system.plain_text import counted, fitted, printable, printable_json, printable_lines, short_number
from tests.messages.examples import PREDICTION

HOSTILE = "\x1b[2J\x9b31m\u202ecat\x07\n"


def hostile_prediction() -> Prediction:
    top = (Label(label=HOSTILE, index=0, score=0.9),)
    return msgspec.structs.replace(PREDICTION, top=top, truth=HOSTILE, camera="door")


def test_what_is_no_letter_sign_or_blank_is_shown_as_a_question_mark() -> None:
    assert printable(HOSTILE) == "?[2J?31m?cat??"
    assert printable("Straßenkatze 猫 1 %") == "Straßenkatze 猫 1 %"
    assert printable_lines("one\x1b\ntwo") == "one?\ntwo"


def test_one_of_a_thing_has_no_plural() -> None:
    assert [counted(number, "frame") for number in (0, 1, 2)] == ["0 frames", "1 frame", "2 frames"]
    assert [counted(number, "class") for number in (1, 10)] == ["1 class", "10 classes"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0341, "0.034"), (0.996, "1.0"), (3.42, "3.4"), (9.96, "10"), (34.2, "34"), (1234.5, "1234")],
)
def test_a_short_number_has_two_digits_that_say_something(value: float, text: str) -> None:
    assert short_number(value) == text


@given(st.text(st.characters(codec="utf-8")))
def test_json_stays_the_same_value(text: str) -> None:
    shown = printable_json(json.dumps({"label": text}, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == {"label": text}


def test_a_line_of_subscribe_and_of_run_is_one_line_and_harmless() -> None:
    tally = Tally(["door"])
    tally.add(hostile_prediction(), None)
    lines = [
        line(hostile_prediction()),
        camera_line("door", 8, 1.0, tally=tally.cameras["door"], ledger=Ledger(), state="up"),
    ]
    assert all("cat" in each and each.isprintable() for each in lines)


def test_the_table_of_a_shadow_is_harmless() -> None:
    tally = ShadowTally()
    tally.pairs[HOSTILE, "dog"] += 1
    lines = tally.table().splitlines()
    assert "cat" in lines[1]
    assert all(each.isprintable() for each in lines)


def test_an_error_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    from edged.cli import print_error

    assert print_error(ConfigError(f"{HOSTILE}: no such file\nand more")) == 2
    shown = capsys.readouterr().err
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 3


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_lines_that_are_not_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    text = "12:00:00 camera /dev/v4l/by-id/usb-a-b-c is down"
    assert fitted(text, Terminal(), 9).splitlines() == [
        "12:00:00 camera",
        "         /dev/v4l/by-id/usb-a-b-c",  # a path stays whole
        "         is down",
    ]


def test_a_file_gets_lines_as_they_are() -> None:
    text = "word " * 100
    assert fitted(text, io.StringIO(), 9) == text
    assert fitted(text, None, 9) == text
