"""What `edged top` shows, without a terminal and without a daemon."""

import re
from typing import Any

import msgspec
import pytest

from edged.cli.status_rows import ScreenPages, bar, duration, fit, labels, milliseconds, picture, rate, status_rows
from edged.cli.top.command import lines
from edged.client.board import Board
from edged.client.node_state import NodeState
from edged.messages import Box, WorkerState
from tests.client.statuses import SECONDS, camera, event, prediction, status
from tools.screenshots import terminal

NOW_S = 100.0


def a_node(cameras: int, *, down: int = 0) -> NodeState:
    """With so many cameras, the last ones of them down."""
    board = Board()
    for index in range(cameras):
        board.add(prediction("7", camera=f"c{index}", at=NOW_S - 0.1), NOW_S)
    states: dict[str, Any] = {
        f"c{index}": camera() if index < cameras - down else camera(up=False, error="unplugged")
        for index in range(cameras)
    }
    told = status(NOW_S, **states)
    workers = {"local-0": WorkerState(device="Mali-T624", state="serving", restarts=2)}
    board.add(msgspec.structs.replace(told, workers=workers), NOW_S)
    return board.node_state(NOW_S)


def rows(
    known: NodeState, *, width: int = 80, height: int = 24, pages: ScreenPages | None = None, alarm: str = ""
) -> list[str]:
    """The screen."""
    return picture(known, "tcp://hub:5570", alarm, width, height, pages or ScreenPages()).plain.split("\n")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 10), (200, 60), (20, 5)])
@pytest.mark.parametrize("cameras", [0, 1, 3, 8, 64])
def test_it_fits_every_screen(width: int, height: int, cameras: int) -> None:
    drawn = rows(a_node(cameras), width=width, height=height)
    assert len(drawn) == height
    assert all(len(row) < width for row in drawn)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 10), (200, 60), (20, 5)])
@pytest.mark.parametrize("cameras", [0, 1, 3, 8, 64])
def test_the_rows_below_a_daemon_leave_room_for_its_lines(width: int, height: int, cameras: int) -> None:
    first, *drawn = status_rows(a_node(cameras), width, height).plain.split("\n")
    assert first == ""  # where another process would write
    assert len(drawn) < max(5, 2 * height // 3 + 1)
    assert all(len(row) < width for row in drawn)


def test_the_rows_below_a_daemon_show_the_worst_cameras_and_how_many_are_not_shown() -> None:
    drawn = status_rows(a_node(64, down=2), 80, 24).plain.split("\n")
    assert drawn[4].startswith("c62            DOWN     unplugged")
    assert drawn[-1].startswith("53 more cameras (see edged top)   ")


def test_the_picture_for_the_documentation_shows_it_and_loads_nothing_from_elsewhere() -> None:
    drawn = terminal(a_node(2), "tcp://hub:5570")
    assert "c0" in drawn
    assert "@font-face" not in drawn
    assert "url(http" not in drawn


def test_of_many_cameras_those_that_are_down_come_first_and_the_others_page_by_page() -> None:
    known, pages = a_node(64, down=2), ScreenPages()
    first = rows(known, pages=pages)
    assert [row.split()[:2] for row in first[5:7]] == [["c62", "DOWN"], ["c63", "DOWN"]]
    assert first[-1].startswith("q: quit   space: more cameras (1 to 18 of 64, worst first)")
    seen = {row.split()[0] for row in first if re.match(r"c\d", row)}
    for _ in range(3):
        pages.turn(1)
        seen |= {row.split()[0] for row in rows(known, pages=pages) if re.match(r"c\d", row)}
    assert len(seen) == 64
    pages.turn(1)
    assert rows(known, pages=pages) == first


def test_a_camera_that_is_down_says_why_in_as_many_rows_as_there_are() -> None:
    board = Board()
    why = "rtsp://door/sub gives no video: " + "the host refuses connections at port; " * 2
    board.add(status(door=camera(up=False, error=why)), NOW_S)
    text = " ".join(" ".join(rows(board.node_state(NOW_S))).split())
    assert f"door DOWN {why.strip()}" in text


def test_a_lost_worker_and_a_silent_hub_are_shown() -> None:
    assert "local-0 serving (lost 2 times): Mali-T624" in rows(a_node(1))[1]
    assert rows(Board().node_state(NOW_S))[3].startswith("nothing from tcp://hub:5570: is `edged run` up?")
    assert rows(Board().node_state(NOW_S), alarm="refused: unknown key")[3].startswith("refused: unknown key")


def test_the_last_events_are_at_the_foot() -> None:
    board = Board()
    for number in range(6):
        board.add(event("fallback", f"event {number}", camera=None), NOW_S)
    assert [row.split("  ")[1] for row in rows(board.node_state(NOW_S))[-5:-1]] == [
        f"event {n}" for n in range(2, 6)
    ]


def test_nothing_that_a_label_or_a_name_holds_steers_the_terminal() -> None:
    board = Board()
    board.add(prediction("\x1b[2J\x9b31m\u202e", camera="do\x1b[0mor"), NOW_S)
    board.add(event("fallback", "\x1b]0;title\x07"), NOW_S)
    known = board.node_state(NOW_S)
    assert all(character.isprintable() for row in (*rows(known), *lines(known)) for character in row)


def test_a_line_for_programs_has_every_key_whatever_is_known() -> None:
    keys = [re.findall(r'(\w+)=(?:"[^"]*"|\S*)', line) for line in lines(a_node(2, down=1))]
    assert keys[0] == keys[1]
    assert keys[0][:4] == ["at", "node", "camera", "state"]


def test_of_a_detector_the_boxes_of_each_label_are_counted() -> None:
    board = Board()
    boxes = tuple(
        Box(label=label, index=0, score=0.8, box=(0.0, 0.0, 0.1, 0.1)) for label in ("person", "car", "person")
    )
    board.add(prediction("person", camera="c0", boxes=boxes), NOW_S)
    board.add(status(NOW_S, c0=camera()), NOW_S)

    assert "2 × person, car" in "\n".join(rows(board.node_state(NOW_S)))
    assert 'found="2 × person, car"' in next(lines(board.node_state(NOW_S)))


def test_a_label_has_as_many_columns_as_it_lasted() -> None:
    assert labels(["cat"] * 6 + ["dog"] + [None] * 2 + ["犬"] * 3) == "cat───d··犬─"


def test_the_bar_gives_each_stage_its_share() -> None:
    seconds = msgspec.structs.replace(SECONDS, wait=0.25, forward=0.5, publish=0.25, total=1.0)
    assert bar(seconds) == "wwwFFFFFFPPP"
    assert bar(SECONDS) == " " * 12


def test_figures_in_few_columns() -> None:
    assert [*map(duration, (None, 0.034, 42.0, 125.0, 7300.0, 400_000.0))] == [
        "-", "0.03 s", "42 s", "2 min", "2 h", "5 d",
    ]  # fmt: skip
    assert [*map(milliseconds, (None, 0.0042, 1.5))] == ["-", "4.2", "1500"]
    assert [*map(rate, (0.0, 0.25, 40.0))] == ["", "0.2/s", "40/s"]
    assert (fit("abcdef", 4), fit("a", 3, right=True), fit("犬犬", 3)) == ("abc…", "  a", "犬…")
