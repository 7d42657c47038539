"""What browsers are told."""

import json
from typing import Any

import msgspec

from edged.client.subscription import SnapshotPicture
from edged.messages import Box
from edged.view.feed import TICK_S, Feed, picture_message
from edged.view.watcher import Shot, Watcher
from tests.view.published import JPEG, arrival, picture, prediction, status


class Desk:
    """A view to which nobody publishes, but for the test."""

    def __init__(self, *cameras: str) -> None:
        self.watcher = Watcher("tcp://127.0.0.1:1")
        self.feed = Feed(self.watcher)
        self.now_s = 0.0
        self._version = 0
        if cameras:
            self.watcher.add(status(*cameras), self.now_s)

    def tick(self, seconds: float = TICK_S) -> list[tuple[str, Any]]:
        """What a browser hears that has taken all that was told before."""
        self.now_s += seconds
        self.feed.refresh(self.now_s)
        self._version, events = self.feed.events_since(self._version)
        return read(events)


def read(events: bytes) -> list[tuple[str, Any]]:
    """Kind and message of each, as a browser reads them."""
    blocks = [block.splitlines() for block in events.decode().split("\n\n") if block]
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, _, data in blocks]


def kinds(told: list[tuple[str, Any]]) -> list[str]:
    return [kind for kind, _ in told]


def test_a_new_page_gets_all_that_is_known() -> None:
    desk = Desk("door")
    desk.watcher.add(arrival(3, "cat"), 0.0)
    desk.watcher.add_picture(picture(3), 0.0)
    told = dict(desk.tick())
    assert told["node"]["cameras"] == ["door"]
    assert (told["camera"]["state"], told["camera"]["snapshots"]) == ("up", True)
    assert told["prediction"]["top"][0]["label"] == "cat"
    assert told["picture"]["top"] == [{"label": "cat", "score": 0.98}]
    assert told["events"] == []


def test_what_has_not_changed_is_not_sent_again() -> None:
    desk = Desk("door")
    desk.watcher.add(arrival(3), 0.0)
    assert "prediction" in kinds(desk.tick())
    assert desk.tick() == []
    assert set(kinds(desk.tick(1.0))) == {"node", "camera"}  # its clock, and the second of its strip


def test_the_view_says_each_second_that_it_is_there_though_no_hub_is() -> None:
    desk = Desk()
    desk.tick()
    assert kinds(desk.tick(1.0)) == ["node"]
    assert desk.tick() == []


def test_of_many_predictions_only_the_newest_is_sent_ten_times_a_second_at_most() -> None:
    desk = Desk("door")
    desk.tick()
    told = []
    for frame in range(1, 301):
        desk.watcher.add(arrival(frame), desk.now_s)
        told += [message["frame"] for kind, message in desk.tick(0.01) if kind == "prediction"]
    assert 28 <= len(told) <= 33
    assert told[-1] >= 290


def test_a_browser_that_was_slow_gets_what_is_newest_and_nothing_that_has_piled_up() -> None:
    desk = Desk("door", "yard")
    desk.tick()
    one, _ = desk.feed.events_since(0)
    for frame in range(1, 1000):
        desk.watcher.add(arrival(frame, camera="yard"), desk.now_s)
        desk.now_s += TICK_S
        desk.feed.refresh(desk.now_s)
    _, events = desk.feed.events_since(one)
    told = read(events)
    assert sorted(kinds(told)) == ["camera", "camera", "node", "prediction"]
    assert dict(told)["prediction"]["frame"] == 999


def test_boxes_are_sent_as_shares_of_the_picture_that_is_shown() -> None:
    box = Box(label="cat", index=1, score=0.9, box=(0.5, 0.25, 0.75, 0.5))
    found = msgspec.structs.replace(prediction(7), boxes=(box,))
    upper_right = msgspec.structs.replace(picture(7).header, region=(0.5, 0.0, 1.0, 0.5))

    whole = picture_message(Shot(1, picture(7), found), "run")["boxes"]
    part = picture_message(Shot(1, SnapshotPicture(upper_right, JPEG), found), "run")["boxes"]

    assert whole == [{"label": "cat", "index": 1, "score": 0.9, "box": [0.5, 0.25, 0.75, 0.5], "track": None}]
    assert part == [{"label": "cat", "index": 1, "score": 0.9, "box": [0.0, 0.5, 0.5, 1.0], "track": None}]


def test_a_classifiers_picture_has_no_boxes() -> None:
    assert picture_message(Shot(1, picture(7), prediction(7)), "run")["boxes"] is None


def test_an_event_is_sent_at_once() -> None:
    desk = Desk("door")
    desk.tick()
    desk.watcher.add(status("door", "yard"), desk.now_s)
    told = desk.tick()
    assert ("node", "yard") in [(kind, *message["cameras"][1:]) for kind, message in told if kind == "node"]


def test_a_camera_that_is_no_more_is_forgotten() -> None:
    desk = Desk("door", "yard")
    desk.watcher.add(arrival(1, camera="yard"), 0.0)
    desk.tick()
    desk.watcher.add(status("door"), desk.now_s)
    desk.tick()
    desk.tick()
    told = read(desk.feed.events_since(0)[1])
    assert sorted(kinds(told)) == ["camera", "events", "history", "node"]
    assert dict(told)["camera"]["name"] == "door"


def test_another_node_at_the_same_address_is_left_out() -> None:
    desk = Desk("door")
    desk.watcher.add(arrival(1, node="other"), 0.0)
    desk.watcher.add_picture(picture(1, node="other"), 0.0)
    assert set(kinds(desk.tick())) == {"node", "camera", "history", "events"}


def test_json_on_several_lines_stays_one_message() -> None:
    desk = Desk("door")
    found = arrival(3, "cat")
    desk.watcher.add(type(found)(found.prediction, b'{\n "camera":\r\n "door"}'), 0.0)
    assert ("prediction", {"camera": "door"}) in desk.tick()


def test_the_last_hour_is_sent_once_a_minute() -> None:
    desk = Desk("door")
    hour = [prediction(frame) for frame in range(5)]  # published at 1970, as the status says
    for each in hour:
        desk.watcher.add_past(msgspec.structs.replace(each, published_at=30.0))

    told = dict(desk.tick())["history"]

    assert told["camera"] == "door"
    assert [minute[:4] for minute in told["minutes"]] == [[0, 5, "7", 1.0]]
    assert "history" not in kinds(desk.tick(1.0))


def test_a_page_of_several_nodes_knows_of_which_each_message_is() -> None:
    feed = Feed(Watcher("tcp://127.0.0.1:1"), number=3)

    feed.refresh(0.0)

    assert b"event: node\nid: 3\n" in feed.events_since(0)[1]
