"""The wire form of what crosses a link and of what is published."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.errors import MessageError
from edged.messages import (
    PROTOCOL,
    Event,
    LinkMessage,
    ReplayRequest,
    Status,
    decode,
    encode,
    prediction_from_json,
    snapshot_topic,
    to_json,
    topic,
)
from tests.messages.examples import LINK_MESSAGES, PREDICTION


@pytest.mark.parametrize("message", LINK_MESSAGES, ids=lambda message: message.kind)
def test_a_link_message_arrives_as_it_was_sent(message: LinkMessage) -> None:
    assert decode(encode(message)) == message


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"", f"not a message of protocol {PROTOCOL}"),
        (b'{"kind": "teapot"}', "teapot"),
        (b'{"kind": "capture", "width": 0, "height": 1}', "width"),
        (b'{"kind": "scores", "job": 1, "frames": [[{"index": 0, "score": NaN}]]}', "malformed"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_with_what_does_not(header: bytes, expected: str) -> None:
    with pytest.raises(MessageError, match=expected):
        decode(header)


@pytest.mark.parametrize("field", ["first_seq", "last_seq"])
def test_a_replay_request_asks_for_numbers_that_a_journal_can_hold(field: str) -> None:
    assert msgspec.json.decode(f'{{"{field}": {2**63 - 1}}}', type=ReplayRequest)
    with pytest.raises(msgspec.ValidationError, match=r"9223372036854775807|out of range"):
        msgspec.json.decode(f'{{"{field}": {2**63}}}', type=ReplayRequest)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_no_time_and_no_score_is_endless(number: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=r"malformed|out of range"):
        msgspec.json.decode(f'{{"since": {number}}}', type=ReplayRequest)
    with pytest.raises(MessageError, match=r"malformed|out of range"):
        prediction_from_json(to_json(PREDICTION).replace(b'"captured_at":1.0', f'"captured_at":{number}'.encode()))


@given(st.binary(max_size=200))
def test_no_bytes_whatever_bring_anything_but_a_message_error(header: bytes) -> None:
    with pytest.raises(MessageError):
        decode(header)


def test_a_prediction_is_published_under_the_keys_of_the_stream() -> None:
    published = json.loads(to_json(PREDICTION))
    assert list(published)[:5] == ["schema", "node", "boot", "seq", "camera"]
    assert published["schema"] == 1
    assert published["energy"] == {"joules": None, "method": "none", "rails": []}
    assert prediction_from_json(to_json(PREDICTION)) == PREDICTION


def test_a_subscriber_reads_what_a_newer_edged_adds() -> None:
    newer = json.loads(to_json(PREDICTION)) | {"weather": "fine"}
    newer["energy"]["watts"] = 3
    assert prediction_from_json(json.dumps(newer).encode()) == PREDICTION


def test_a_subscriber_refuses_another_schema() -> None:
    other = json.loads(to_json(PREDICTION)) | {"schema": 2}
    with pytest.raises(MessageError, match=r"not a prediction of schema 1: .* `\$.schema`"):
        prediction_from_json(json.dumps(other).encode())


def test_topics_name_node_camera_and_kind() -> None:
    assert topic("box", "door", "prediction") == "edged/box/door/prediction"
    assert topic("box", None, "status") == "edged/box/status"


def test_nobody_gets_pictures_who_subscribes_to_all_else() -> None:
    assert snapshot_topic("box", "door") == "snapshot/box/door"
    assert not snapshot_topic("box", "door").startswith("edged/")


def test_an_event_without_a_camera_says_so() -> None:
    event = Event(node="box", boot="6f1c", at=1.0, event="fallback", worker="local-1", message="no GPU")
    assert json.loads(to_json(event))["camera"] is None


def test_the_status_of_an_older_edged_is_read_too() -> None:
    older = {"node": "box", "boot": "6f1c", "at": 1.0, "first_seq": 0, "last_seq": 3, "replay": "", "cameras": {}}
    status = msgspec.json.decode(json.dumps(older), type=Status)
    assert (status.camera_states, status.workers, status.energy.method) == ({}, {}, "none")
