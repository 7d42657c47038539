"""Subjects, identities and places of what goes to NATS."""

import json
from pathlib import Path

import msgspec
import pytest

from edged.bridge.jetstream import PlaceFile, StreamPlace, from_header
from edged.bridge.subjects import Subjects, streams_of
from edged.client.replay import FetchedPage, Lost
from edged.client.subscription import Arrival, SnapshotPicture
from edged.messages import Event, SnapshotHeader
from tests.client import statuses

SUBJECTS = Subjects("edged", "test")


def arrival(seq: int) -> Arrival:
    return Arrival(statuses.prediction("open", seq=seq), b"json")


def test_a_prediction_is_named_by_node_start_and_number() -> None:
    given = statuses.prediction("open", camera="door", seq=7)
    found = SUBJECTS.delivered(Arrival(given, b"json"))
    assert (found.message.subject, found.message.payload) == ("edged.test.door.prediction", b"json")
    assert found.message.identity == f"test/{given.boot}/7"
    assert (found.boot, found.seq) == (given.boot, 7)


def test_a_gap_has_its_range() -> None:
    found = SUBJECTS.delivered(Lost("test", "b", 3, 9, number=7))
    assert (found.message.subject, found.message.identity, found.seq) == ("edged.test.gap", "test/b/3-9", 9)
    assert json.loads(found.message.payload) == {
        "schema": 1, "node": "test", "boot": "b", "first": 3, "last": 9, "lost": 7,
    }  # fmt: skip


def test_a_gap_with_predictions_inside_does_not_pass_them() -> None:
    assert SUBJECTS.delivered(Lost("test", "b", 3, 9, number=2)).seq == 2


def test_dots_in_names_separate_no_parts() -> None:
    subjects = Subjects("site.edged", "a.board")
    assert subjects.of_camera("front.door", "snapshot") == "site.edged.a%2Eboard.front%2Edoor.snapshot"
    assert subjects.of_node("status") == "site.edged.a%2Eboard.status"


def test_an_event_has_one_identity_and_its_camera() -> None:
    event = Event(node="test", boot="b", at=1.5, event="camera_up", camera="door", message="up")
    first, again = SUBJECTS.event(event), SUBJECTS.event(event)
    assert (first.subject, first) == ("edged.test.door.event", again)
    other = SUBJECTS.event(msgspec.structs.replace(event, message="up again", camera=None))
    assert other.subject == "edged.test.event"
    assert other.identity != first.identity


def test_each_subject_is_of_one_stream() -> None:
    kept, latest = streams_of("edged")
    header = SnapshotHeader(node="test", boot="b", camera="door", frame=1, captured_at=0.0, width=8, height=8)
    picture = SUBJECTS.snapshot(SnapshotPicture(header, b"jpeg"))
    assert [fits(picture.subject, each) for each in (*kept, *latest)].count(True) == 1
    assert fits(picture.subject, latest[1])


def fits(subject: str, pattern: str) -> bool:
    parts, wanted = subject.split("."), pattern.split(".")
    return len(parts) == len(wanted) and all(b in {a, "*"} for a, b in zip(parts, wanted, strict=True))


def test_a_place_is_read_from_the_header_that_it_wrote() -> None:
    for place in (StreamPlace(), StreamPlace("boot", 41, 1000)):
        assert from_header(place.header()) == place
    with pytest.raises(ValueError, match="not enough values"):
        from_header("41")


def test_the_file_of_a_place_is_of_one_stream(tmp_path: Path) -> None:
    file = PlaceFile(tmp_path / "state" / "place.json")
    assert file.read("EDGED born today") is None
    file.write("EDGED born today", StreamPlace("boot", 41, 1000))
    assert file.read("EDGED born today") == StreamPlace("boot", 41, 1000)
    assert file.read("EDGED born tomorrow") is None


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"stream": "s", "place": {"seq": 1, "other": 2}}', "\x00"])
def test_a_damaged_file_is_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "place.json"
    path.write_text(content)
    assert PlaceFile(path).read("s") is None


def test_a_page_says_what_is_lost_before_what_follows() -> None:
    page = FetchedPage([arrival(0), arrival(1), arrival(5)], withdrawn=1, first=0, last=6)
    first, second, lost, third = page.in_order("test", "b")
    assert lost == Lost("test", "b", 2, 6, number=3)
    assert [each.prediction.seq for each in (first, second, third) if isinstance(each, Arrival)] == [0, 1, 5]


def test_withdrawn_numbers_are_no_loss() -> None:
    assert FetchedPage([arrival(0), arrival(3)], withdrawn=2, first=0, last=3).missing() is None
    assert FetchedPage([arrival(0)], withdrawn=0).missing() is None
