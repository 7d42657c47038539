"""What other programs get of the view."""

import json
import time
from base64 import b64encode
from typing import Any

import msgspec

from edged import __version__
from edged.messages import Event
from tests.view.opened_view import View, serving
from tests.view.published import JPEG, arrival, picture, status


def state_of(view: View) -> Any:
    with view.get("/api/state") as answer:
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        return json.loads(answer.read())


def refusal_of(view: View, path: str) -> tuple[int, str]:
    with view.get(path) as answer:
        return answer.status, answer.read().decode()


def test_the_newest_snapshot_has_an_address_of_its_own() -> None:
    with serving() as view:
        now_s = time.monotonic()
        view.watcher.add(status("door"), now_s)  # its clock shows 100 s
        view.watcher.add_picture(picture(60), now_s)
        view.watcher.add_picture(picture(90), now_s)  # whose prediction is awaited
        with view.get("/door.jpg") as answer:
            assert (answer.status, answer.headers["content-type"]) == (200, "image/jpeg")
            assert answer.headers["last-modified"] == "Thu, 01 Jan 1970 00:01:30 GMT"
            assert int(answer.headers["age"]) >= 10
            assert answer.headers["cache-control"] == "no-store"
            assert answer.read() == JPEG + bytes([90])
        with view.get("/box/door.jpg") as answer:
            assert answer.read() == JPEG + bytes([90])


def test_a_snapshot_that_is_not_there_says_why() -> None:
    with serving() as view:
        silent = refusal_of(view, "/door.jpg")
        view.watcher.add(status("door"), time.monotonic())
        absent = refusal_of(view, "/door.jpg")
        unknown = refusal_of(view, "/garage.jpg")
        other_node = refusal_of(view, "/barn/door.jpg")
        view.watcher.add(status("door", snapshots=False), time.monotonic())
        off = refusal_of(view, "/door.jpg")
    assert silent == (503, "nothing was received from tcp://127.0.0.1:1 yet: is `edged run` up there?\n")
    assert absent == (503, "camera door has published no snapshot yet\n")
    assert unknown == (404, "there is no camera garage; there are: door\n")
    assert other_node == (404, "there is no node barn; there are: box\n")
    assert off[0] == 404
    assert "camera door publishes no snapshots: put `snapshot: {}` under cameras.door in the config" in off[1]


def test_the_state_has_the_documented_fields() -> None:
    with serving() as view:
        view.watcher.add(status("door", "yard"), time.monotonic())
        view.watcher.add(arrival(98, "open"), time.monotonic())
        found = state_of(view)

    (node,) = found["nodes"]
    door, yard = node.pop("cameras")
    assert found["version"] == __version__
    assert 100 <= node.pop("at") < 200
    assert node == {"node": "box", "address": "tcp://127.0.0.1:1", "stale": False}
    assert 2 <= door.pop("age_s") < 100
    assert door == {
        "camera": "door",
        "state": "up",
        "why": "",
        "sees": None,
        "present": {},
        "count": {},
        "label": "open",
        "score": 0.98,
        "fps": 1.0,
        "has_snapshots": True,
    }
    assert (yard["label"], yard["score"], yard["age_s"], yard["fps"]) == (None, None, None, 0)


def test_a_view_without_a_hub_says_so() -> None:
    with serving() as view:
        found = state_of(view)["nodes"]
    assert found == [{"node": None, "address": "tcp://127.0.0.1:1", "stale": True, "at": None, "cameras": []}]


def test_what_a_camera_sees_is_there_at_once() -> None:
    changed = Event(node="box", boot="6f1c", at=100.0, event="state", camera="door", message="", state="open")
    with serving() as view:
        known = status("door")
        states = {"door": msgspec.structs.replace(known.camera_states["door"], state="shut")}
        view.watcher.add(msgspec.structs.replace(known, camera_states=states), time.monotonic())
        before = state_of(view)["nodes"][0]["cameras"][0]["sees"]
        view.watcher.add(changed, time.monotonic())
        after = state_of(view)["nodes"][0]["cameras"][0]["sees"]
    assert (before, after) == ("shut", "open")


def test_the_password_is_required_as_for_the_page() -> None:
    word = "Basic " + b64encode(b"me:let me in").decode()
    with serving(password="let me in") as view:
        view.watcher.add(status("door"), time.monotonic())
        view.watcher.add_picture(picture(90), time.monotonic())
        for path in ("/door.jpg", "/api/state"):
            with view.get(path) as answer:
                assert answer.status == 401
            with view.get(path, authorization=word) as answer:
                assert answer.status == 200
