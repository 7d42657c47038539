"""The way of one frame through the code, as docs/architecture.md shows it."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tools.frame_path.page import BEGIN, END, PAGE, figures_of, measured_part, named_functions
from tools.frame_path.record import Function, Turn, record
from tools.frame_path.way import (
    LEGS,
    MOST_FILES,
    MOST_HUB_FILES,
    MOST_JUMPS,
    OFTEN,
    Leg,
    Way,
    shows_each_leg,
    stops_of,
    way_of,
)

TEXT = PAGE.read_text()
LIMITS = (MOST_FILES, MOST_HUB_FILES, MOST_JUMPS)


def defined_in(path: Path) -> set[str]:
    """The functions of a file, methods with their class."""
    tree = ast.parse(path.read_text())
    methods = {
        f"{node.name}.{each.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for each in node.body
        if isinstance(each, ast.FunctionDef)
    }
    return methods | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


NAMED = named_functions(TEXT)


def test_the_page_shows_every_leg() -> None:
    assert BEGIN in TEXT
    assert END in TEXT
    assert all(f"### {title.capitalize()}\n" in TEXT for title in LEGS.values())


@pytest.mark.parametrize("file", sorted(NAMED))
def test_every_function_that_the_page_names_exists(file: str) -> None:
    path = ROOT / "edged" / file
    assert path.is_file(), "run: python -m tools.frame_path --write"
    assert NAMED[file] <= defined_in(path), "run: python -m tools.frame_path --write"


def test_the_way_that_the_page_shows_is_within_its_limits() -> None:
    figures = figures_of(TEXT)
    assert all(number <= most for number, most in zip(figures, LIMITS, strict=True))
    hub_files = {file for file in NAMED if file.startswith("hub/")}
    assert figures[:2] == (len(NAMED), len(hub_files))


CAPTURE, SEND, WAIT = Function("a.py", "Camera.capture"), Function("a.py", "Camera.send"), Function("b.py", "wait")
LEG = Leg("a leg", ((CAPTURE, SEND), (SEND, WAIT), (CAPTURE, WAIT)))


def test_a_jump_that_two_legs_have_in_common_is_counted_once() -> None:
    way = Way((LEG, LEG))
    assert (len(way.files), len(way.functions), len(way.jumps), way.jumps_of_all_legs) == (2, 2, 2, 4)
    assert way.problems() == []
    many = Leg("many", tuple((SEND, Function(f"{number}.py", "f")) for number in range(MOST_JUMPS + 1)))
    assert way_problems(many) == [f"{MOST_JUMPS + 1} files, at most {MOST_FILES}", "111 jumps, at most 110"]


def way_problems(leg: Leg) -> list[str]:
    return Way((leg,)).problems()


def test_functions_of_one_file_that_call_each_other_are_one_stop() -> None:
    [stop] = stops_of(Leg("a leg", ((CAPTURE, SEND), (SEND, WAIT))))
    picture = list(stop.lines())
    assert picture == ["a.py  Camera.capture, .send", "└─ b.py  wait"]
    assert named_functions("\n".join(picture)) == {"a.py": {"Camera.capture", "Camera.send"}, "b.py": {"wait"}}


def test_a_leg_that_was_not_recorded_is_named() -> None:
    turn = Turn("camera", "main", frozenset({"sent Frame"}), ((CAPTURE, SEND),))
    with pytest.raises(ValueError, match="no such turn was recorded: hub: the frame arrives"):
        way_of([turn])


def turn_of(process: str, thread: str, received: str, sent: str) -> Turn:
    """A turn of a leg, by its key in `LEGS`."""
    messages = {f"received {received}", f"sent {sent}"} - {"received ", "sent "}
    return Turn(process, thread, frozenset(messages), ((CAPTURE, SEND),))


def test_a_recording_goes_on_until_each_leg_was_seen_often() -> None:
    turns = [turn_of(*leg) for leg in LEGS] * OFTEN
    assert shows_each_leg(turns)
    assert not shows_each_leg(turns[1:])
    both_at_once = Turn("run", "main", frozenset({"received Frame", "received Scores"}), ())
    assert not shows_each_leg([*turns[1:], both_at_once])


def test_the_usual_turn_does_the_least_of_those_that_are_frequent() -> None:
    clock, rare = Function("each_second.py", "tick"), Function("rare.py", "drop")
    turns = {  # of the leg `camera`: how often each was recorded
        ((CAPTURE, SEND), (SEND, WAIT)): 10,
        ((CAPTURE, SEND), (SEND, WAIT), (WAIT, clock)): 12,  # a busy machine: later than a second each time
        ((CAPTURE, rare),): 1,
    }
    recorded = [
        Turn("camera", "main", frozenset({"sent Frame"}), calls) for calls, n in turns.items() for _ in range(n)
    ]
    others = [turn_of(*leg) for leg in list(LEGS)[1:]]
    assert way_of([*recorded, *others]).legs[0].files == {"a.py", "b.py"}


@pytest.mark.deep
def test_the_daemon_goes_the_way_that_the_page_shows(tmp_path: Path) -> None:
    way = way_of(record(ROOT, ROOT / "configs/demo.yaml", 40, tmp_path, shows_each_leg))
    assert way.problems() == [], measured_part(way)
    assert way.files == NAMED.keys()
