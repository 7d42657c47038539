"""Messages that wait for a broker, and the topics that it retains."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.bridge.outbox import EVENTS, Outbox
from edged.bridge.retained import RetainedTopics
from edged.bridge.topics import MqttMessage

OPEN, CLOSED = MqttMessage("door", "open"), MqttMessage("door", "closed")
EVENT = MqttMessage("event", "camera down", retain=False)


def taken(outbox: Outbox) -> Iterator[MqttMessage]:
    while message := outbox.take():
        yield message


def test_of_a_retained_topic_the_newest_message_alone_is_sent() -> None:
    outbox = Outbox()
    outbox.put(OPEN)
    outbox.put(CLOSED)
    assert [*taken(outbox)] == [CLOSED]
    outbox.put(CLOSED)
    assert outbox.is_empty


def test_after_a_new_connection_the_newest_of_each_topic_is_sent_again_and_no_older_one() -> None:
    outbox = Outbox()
    outbox.put(OPEN)
    outbox.put(MqttMessage("gate", "up"))
    under_way = [*taken(outbox)]
    outbox.put(CLOSED)
    outbox.begin_again(under_way)
    assert [*taken(outbox)] == [CLOSED, MqttMessage("gate", "up")]


def test_an_event_that_was_not_acknowledged_is_sent_again_before_later_ones() -> None:
    outbox = Outbox()
    outbox.put(EVENT)
    under_way = [*taken(outbox)]
    later = MqttMessage("event", "camera up", retain=False)
    outbox.put(later)
    outbox.begin_again(under_way)
    assert [*taken(outbox)] == [EVENT, later]


def test_ten_thousand_topics_wait_and_the_newest_events() -> None:
    outbox = Outbox()
    for number in range(10_000):
        outbox.put(MqttMessage(f"camera-{number}", "up"))
        outbox.put(MqttMessage("event", str(number), retain=False))
    messages = [*taken(outbox)]
    assert len({message.topic for message in messages if message.retain}) == 10_000
    assert [message.payload for message in messages if not message.retain] == [
        str(number) for number in range(10_000 - EVENTS, 10_000)
    ]


def test_topics_that_are_no_longer_in_use_are_emptied_once() -> None:
    outbox = Outbox(retained=["door", "of a bridge before"])
    outbox.put(OPEN)
    outbox.put(MqttMessage("gate", "up"))
    [*taken(outbox)]
    outbox.keep_only({"gate"})
    emptied = [*taken(outbox)]
    assert {(message.topic, message.payload) for message in emptied} == {("door", ""), ("of a bridge before", "")}
    assert outbox.retained == {"door", "of a bridge before", "gate"}  # until the broker has acknowledged it
    for message in emptied:
        outbox.acknowledged(message)
    assert outbox.retained == {"gate"}
    outbox.begin_again([])
    assert [message.topic for message in taken(outbox)] == ["gate"]


def test_a_topic_that_is_used_again_before_it_is_emptied_stays() -> None:
    outbox = Outbox()
    outbox.put(OPEN)
    outbox.keep_only(())
    (emptied,) = taken(outbox)
    outbox.put(OPEN)
    outbox.acknowledged(emptied)
    assert [*taken(outbox)] == [OPEN]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    return tmp_path / "north" / "mqtt-retained.json"


def test_retained_topics_are_those_of_a_broker(state: Path) -> None:
    RetainedTopics("north", "mqtt://here").save({"b", "a"})
    assert json.loads(state.read_bytes()) == {"broker": "mqtt://here", "topics": ["a", "b"]}
    assert RetainedTopics("north", "mqtt://here").saved == {"a", "b"}
    assert RetainedTopics("north", "mqtt://there").saved == frozenset()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"broker": "mqtt://here"}'])
def test_a_damaged_file_counts_as_none(state: Path, content: str) -> None:
    state.parent.mkdir()
    state.write_text(content)
    assert RetainedTopics("north", "mqtt://here").saved == frozenset()
