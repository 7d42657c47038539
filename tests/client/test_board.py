"""What is known of a node after what it has said. The clock of these tests begins at 100 s."""

import json
from typing import Any

import msgspec
import pytest

from edged.client.board import Board
from edged.client.node_state import CameraSummary, worst_first
from edged.client.subscription import StreamMessage
from edged.messages import Event, Prediction
from tests.client.statuses import camera, event, prediction, status

NOW_S = 100.0


def door(*messages: StreamMessage | Prediction, now_s: float = NOW_S) -> CameraSummary:
    """The camera `door`, all of it having come at 100 s."""
    board = Board()
    for message in messages:
        board.add(message, NOW_S)
    return next(each for each in board.node_state(now_s).cameras if each.name == "door")


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (camera(), "up"),
        (camera(frozen=True), "frozen"),
        (camera(up=False, error="unplugged"), "down"),
        (camera(up=False), "down"),  # its process is being started again
        (camera(up=False, captured=0), "starting"),
        (camera(up=False, ended=True), "ended"),
    ],
)
def test_a_camera_is_as_the_last_status_tells(told: object, state: str) -> None:
    assert door(status(door=told)).state == state


@pytest.mark.parametrize(
    ("what", "state"), [("camera_down", "down"), ("camera_lost", "down"), ("camera_frozen", "frozen")]
)
def test_an_event_counts_before_the_next_status_and_says_why(what: str, state: str) -> None:
    known = door(status(door=camera()), event(what, "door has had enough"))
    assert (known.state, known.why) == (state, "door has had enough")


def test_why_a_camera_is_down_is_what_it_says_itself_if_it_does() -> None:
    assert door(status(door=camera(up=False, error="unplugged"))).why == "unplugged"
    assert door(status(door=camera(up=False, error="unplugged")), event("camera_up")).why == ""


def test_a_hub_that_is_silent_for_3_s_is_stale_and_so_is_all_that_it_reported() -> None:
    board = Board()
    board.add(status(door=camera(), rails={"GPU": 1.0}), NOW_S)
    board.add(prediction(), NOW_S + 3)  # a prediction does not tell how the cameras stand
    assert not board.node_state(NOW_S + 3).stale
    known = board.node_state(NOW_S + 3.5)
    assert (known.stale, known.away_s, known.cameras[0].state) == (True, 3.5, "stale")
    board.add(status(door=camera()), NOW_S + 9)
    assert (board.node_state(NOW_S + 9).stale, board.node_state(NOW_S + 9).cameras[0].state) == (False, "up")


def test_before_anything_is_heard_nothing_is_known() -> None:
    known = Board().node_state(NOW_S)
    assert (known.stale, known.cameras, known.node, known.at) == (True, (), None, None)


def test_predictions_alone_do_for_a_moment() -> None:
    assert door(prediction()).state == "up"
    assert door(prediction(), now_s=NOW_S + 3.1).state == "stale"


def test_the_age_of_a_frame_is_by_the_clock_of_the_hub_whatever_ours_shows() -> None:
    board = Board()
    board.add(prediction(at=5000.0), NOW_S)
    board.add(status(at=5000.5, door=camera()), NOW_S + 0.8)  # 0.3 s on the way
    board.add(status(at=5001.5, door=camera()), NOW_S + 1.5)  # at once
    known = board.node_state(NOW_S + 2)
    assert (known.at, known.cameras[0].age_s) == (5002.0, 2.0)


def test_a_clock_that_is_set_back_counts_at_once() -> None:
    board = Board()
    for second, at in enumerate((5000.0, 5001.0, 1402.0)):
        board.add(status(at=at, door=camera()), NOW_S + second)
    assert board.node_state(NOW_S + 2).at == 1402.0


def test_another_start_of_the_node_may_have_another_clock_and_begins_its_sums_anew() -> None:
    board = Board()
    board.add(status(at=5000.0, rails={"GPU": 90.0}, door=camera(dropped={"stale": 9})), NOW_S)
    board.add(status(at=40.0, boot="c", rails={"GPU": 1.0}, door=camera(dropped={"stale": 1})), NOW_S + 1)
    board.add(status(at=42.0, boot="c", rails={"GPU": 5.0}, door=camera(dropped={"stale": 5})), NOW_S + 3)
    known = board.node_state(NOW_S + 3)
    assert (known.boot, known.at, known.watts) == ("c", 42.0, {"GPU": 2.0})
    assert known.cameras[0].dropping == {"stale": 2.0}


def test_what_a_camera_sees_is_in_its_status_and_changes_with_the_event() -> None:
    board = Board()
    board.add(status(door=camera(present={"visitor": False}, count={"cars": 1})), NOW_S)
    for name, state in (("visitor", "present"), ("cars", "2")):
        changed = Event(
            node="test", boot="b", at=0.0, event="state", camera="door", message="", state=state, name=name
        )
        board.add(changed, NOW_S)

    (door,) = board.node_state(NOW_S).cameras
    assert (door.sees, door.present, door.count) == (None, {"visitor": True}, {"cars": 2})


def test_frames_that_are_dropped_in_all_and_a_second() -> None:
    board = Board()
    board.add(status(door=camera(dropped={"stale": 5}), gate=camera()), NOW_S)
    board.add(status(door=camera(dropped={"stale": 9, "motion": 4}), gate=camera()), NOW_S + 2)
    door, gate = board.node_state(NOW_S + 2).cameras
    assert (door.dropped, door.dropping) == ({"stale": 9, "motion": 4}, {"stale": 2.0, "motion": 2.0})
    assert (gate.dropped, gate.dropping) == ({}, {})


def test_watts_by_rail_are_those_of_the_last_ten_seconds() -> None:
    board = Board()
    for second in range(31):
        joules = 2.0 * min(second, 15) + 5.0 * max(0, second - 15)
        board.add(status(rails={"GPU": joules}), NOW_S + second)
    assert board.node_state(NOW_S + 30).watts == {"GPU": 5.0}


def test_cameras_come_in_the_order_of_the_config_and_go_with_it() -> None:
    board = Board()
    board.add(prediction(camera="gate"), NOW_S)
    board.add(status(door=camera(), gate=camera()), NOW_S)
    assert [each.name for each in board.node_state(NOW_S).cameras] == ["door", "gate"]
    board.add(status(gate=camera()), NOW_S)
    assert [each.name for each in board.node_state(NOW_S).cameras] == ["gate"]


def test_a_board_is_about_one_node() -> None:
    board = Board()
    board.add(status(door=camera()), NOW_S)
    board.add(status(node="other", yard=camera()), NOW_S)
    assert [each.name for each in board.node_state(NOW_S).cameras] == ["door"]


def test_the_newest_events_come_last_and_the_oldest_are_forgotten() -> None:
    board = Board()
    for number in range(150):
        board.add(event("fallback", str(number), camera=None), NOW_S)
    events = board.node_state(NOW_S).events
    assert (len(events), events[-1].message) == (100, "149")


def test_what_needs_attention_comes_first() -> None:
    board = Board()
    states: dict[str, Any] = {
        "fine": camera(),
        "over": camera(up=False, ended=True),
        "late": camera(),
        "still": camera(frozen=True),
        "gone": camera(up=False, error="unplugged"),
    }
    board.add(status(10.0, **states), NOW_S)
    board.add(prediction(camera="fine", at=10.0), NOW_S)
    cameras = worst_first(board.node_state(NOW_S).cameras)
    assert [each.name for each in cameras] == ["gone", "still", "late", "fine", "over"]


def test_what_is_known_becomes_json() -> None:
    board = Board()
    board.add(prediction("7", at=1.0), NOW_S)
    board.add(status(1.0, door=camera()), NOW_S)
    known = json.loads(msgspec.json.encode(board.node_state(NOW_S)))
    assert known["cameras"][0]["last"]["top"][0]["label"] == "7"
