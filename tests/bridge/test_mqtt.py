"""What an MQTT broker gets of a node's messages."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from edged.bridge.mqtt import MqttBridge
from edged.bridge.topics import MqttMessage
from edged.client.board import STALE_S
from edged.client.subscription import Arrival, SnapshotPicture
from edged.config import Config, MqttConfig
from edged.messages import Box, Event, Prediction, SnapshotHeader
from tests.client import statuses

MQTT = MqttConfig(address="mqtt://127.0.0.1", every_s=1.0)


def bridge_of(mqtt: MqttConfig = MQTT, states: dict[str, Any] | None = None, task: str = "classify") -> MqttBridge:
    cameras = {"door": {"source": "synthetic:digits"}, "gate": {"source": "synthetic:digits"}}
    config = {
        "node": "test",
        "cameras": cameras,
        "model": {"path": "m.onnx", "task": task},
        "states": states or {},
    }
    return MqttBridge(Config.model_validate(config), mqtt)


def by_topic(messages: Iterable[MqttMessage]) -> dict[str, str | bytes]:
    return {message.topic: message.payload for message in messages}


def arrival(prediction: Prediction) -> Arrival:
    return Arrival(prediction, b"")


def test_the_newest_prediction_of_each_camera_is_published_at_its_rate() -> None:
    bridge = bridge_of()

    def labels(label: str, camera: str, now_s: float) -> list[str]:
        given = arrival(statuses.prediction(label, camera=camera))
        return [json.loads(message.payload)["label"] for message in bridge.converted(given, now_s)]

    assert labels("open", "door", 0.0) == ["open"]
    assert labels("closed", "door", 0.5) == []
    assert labels("open", "gate", 0.6) == ["open"]
    assert labels("cat", "door", 0.9) == []
    assert [json.loads(message.payload)["label"] for message in bridge.converted(None, 1.1)] == ["cat"]


def test_a_prediction_has_its_numbers() -> None:
    given = arrival(statuses.prediction("open", at=5.0, total_s=0.02, seq=7, frame=9))
    (message,) = bridge_of().converted(given, 0.0)
    assert (message.topic, message.retain, message.qos) == ("edged/test/door/prediction", True, 1)
    assert json.loads(message.payload) == {
        "label": "open", "score": 0.9, "seq": 7, "frame": 9, "captured_at": 5.0, "seconds": 0.02,
    }  # fmt: skip


def test_a_prediction_of_a_detector_has_its_boxes() -> None:
    box = Box(label="person", index=0, score=0.87654, box=(0.1, 0.2, 1 / 3, 0.4), track=7)
    (message,) = bridge_of().converted(arrival(statuses.prediction("person", boxes=(box,))), 0.0)
    assert json.loads(message.payload)["boxes"] == [
        {"label": "person", "score": 0.8765, "box": [0.1, 0.2, 0.3333, 0.4], "track": 7}
    ]


def test_a_state_is_text_that_an_automation_compares() -> None:
    event = Event(
        node="test", boot="b", at=1.0, event="state", camera="door", message="camera door sees: open", state="open"
    )
    first, second = bridge_of().converted(event, 0.0)
    assert (first.topic, first.retain) == ("edged/test/door/event", False)
    assert (second.topic, second.payload, second.retain) == ("edged/test/door/state", "open", True)


def test_what_a_detector_finds_is_a_topic_for_each_state() -> None:
    event = Event(
        node="test", boot="b", at=1.0, event="state", camera="door", message="", state="present", name="visitor"
    )
    _, state = bridge_of().converted(event, 0.0)
    assert (state.topic, state.payload, state.retain) == ("edged/test/door/state/visitor", "present", True)

    camera = statuses.camera(present={"visitor": False}, count={"cars": 2})
    found = by_topic(bridge_of().converted(statuses.status(door=camera), 0.0))
    assert found["edged/test/door/state/visitor"] == "absent"
    assert found["edged/test/door/state/cars"] == "2"
    assert "edged/test/door/state" not in found


def test_a_status_says_which_cameras_are_up_and_how_fast() -> None:
    bridge = bridge_of()
    list(bridge.converted(statuses.status(10.0, door=statuses.camera(predicted=10)), 0.0))
    status = statuses.status(
        12.0, door=statuses.camera(predicted=40, state="open"), gate=statuses.camera(up=False)
    )
    found = by_topic(bridge.converted(status, 2.0))
    assert found["edged/test/availability"] == "online"
    assert found["edged/test/door/availability"] == "online"
    assert found["edged/test/gate/availability"] == "offline"
    assert found["edged/test/door/state"] == "open"
    assert json.loads(found["edged/test/door/statistics"])["fps"] == 15.0
    assert "edged/test/gate/state" not in found


def test_a_node_that_is_silent_is_offline_until_it_is_heard() -> None:
    bridge = bridge_of()
    list(bridge.converted(statuses.status(door=statuses.camera()), 0.0))
    assert by_topic(bridge.converted(None, STALE_S)) == {}
    assert by_topic(bridge.converted(None, STALE_S + 0.1)) == {"edged/test/availability": "offline"}
    assert by_topic(bridge.converted(None, STALE_S + 5)) == {}
    again = by_topic(bridge.converted(statuses.status(door=statuses.camera()), STALE_S + 6))
    assert again["edged/test/availability"] == "online"


def test_a_snapshot_is_a_picture() -> None:
    header = SnapshotHeader(node="test", boot="b", camera="door", frame=1, captured_at=0.0, width=8, height=8)
    (message,) = bridge_of().converted(SnapshotPicture(header, b"jpeg"), 0.0)
    assert message == MqttMessage("edged/test/door/snapshot", b"jpeg", retain=True, qos=0)


def discovered(bridge: MqttBridge, **cameras: Any) -> dict[str, dict[str, Any]]:
    """Return the fields of each entity that a status announces, by its topic."""
    messages = by_topic(bridge.converted(statuses.status(**cameras), 0.0))
    return {topic: json.loads(text) for topic, text in messages.items() if topic.startswith("homeassistant/")}


def test_home_assistant_finds_the_entities_of_a_camera() -> None:
    states = {"door": {"labels": ["open", "closed"]}}
    found = discovered(bridge_of(states=states), door=statuses.camera(snapshots=True), gate=statuses.camera())
    names = {topic.removeprefix("homeassistant/").removesuffix("/config") for topic in found}
    common = {"sensor/{}_label", "sensor/{}_score", "sensor/{}_fps", "sensor/{}_dropped", "binary_sensor/{}_up"}
    expected = {name.replace("/", "/edged_test/").format(camera) for camera in ("door", "gate") for name in common}
    own = {"sensor/edged_test/door_state", "camera/edged_test/door_snapshot"}
    node = {"binary_sensor/edged_test/running", "sensor/edged_test/device"}
    assert names == expected | own | node
    state = found["homeassistant/sensor/edged_test/door_state/config"]
    assert state["options"] == ["open", "closed", "unknown"]
    assert state["state_topic"] == "edged/test/door/state"
    assert [each["topic"] for each in state["availability"]] == [
        "edged/test/availability",
        "edged/test/door/availability",
    ]
    assert len({fields["unique_id"] for fields in found.values()}) == len(found)


def test_a_state_of_two_labels_is_a_binary_sensor_where_its_class_is_given() -> None:
    states = {"door": {"labels": ["open", "closed"], "device_class": "garage_door"}}
    found = discovered(bridge_of(states=states), door=statuses.camera())
    sensor = found["homeassistant/binary_sensor/edged_test/door_state_on/config"]
    assert (sensor["device_class"], sensor["payload_on"], sensor["payload_off"]) == (
        "garage_door",
        "open",
        "closed",
    )
    assert sensor["value_template"] == "{{ 'None' if value == 'unknown' else value }}"
    assert sensor["state_topic"] == "edged/test/door/state"
    assert "homeassistant/sensor/edged_test/door_state/config" in found


def test_home_assistant_finds_whether_something_is_there_and_how_many() -> None:
    states = {
        "door": {
            "present": {
                "visitor": {"labels": ["person"], "device_class": "occupancy"},
                "dog": {"labels": ["dog"]},
            },
            "count": {"parked_cars": {"labels": ["car"]}},
        }
    }
    bridge = bridge_of(states=states, task="detect")
    found = discovered(bridge, door=statuses.camera())

    visitor = found["homeassistant/binary_sensor/edged_test/door_state_visitor/config"]
    assert (visitor["name"], visitor["device_class"], visitor["state_topic"]) == (
        "Visitor",
        "occupancy",
        "edged/test/door/state/visitor",
    )
    assert (visitor["payload_on"], visitor["payload_off"]) == ("present", "absent")
    assert [each["topic"] for each in visitor["availability"]] == [
        "edged/test/availability",
        "edged/test/door/availability",
    ]
    assert "device_class" not in found["homeassistant/binary_sensor/edged_test/door_state_dog/config"]
    cars = found["homeassistant/sensor/edged_test/door_state_parked_cars/config"]
    assert (cars["name"], cars["state_class"], cars["state_topic"]) == (
        "Parked cars",
        "measurement",
        "edged/test/door/state/parked_cars",
    )
    assert "homeassistant/sensor/edged_test/door_state/config" not in found
    assert len({fields["unique_id"] for fields in found.values()}) == len(found)
    assert bridge.in_use
    assert {f"edged/test/door/state/{name}" for name in ("visitor", "dog", "parked_cars")} <= bridge.in_use
    assert "edged/test/door/state" not in bridge.in_use


def test_what_a_broker_may_retain_follows_the_cameras() -> None:
    bridge = bridge_of(states={"door": {"labels": ["open"]}})
    assert bridge.in_use is None
    status = statuses.status(door=statuses.camera(snapshots=True, state="open"), gate=statuses.camera())
    retained = {message.topic for message in bridge.converted(status, 0.0) if message.retain}
    door, snapshot = "edged/test/door/prediction", "edged/test/door/snapshot"
    assert bridge.in_use == retained | {door, snapshot, "edged/test/gate/prediction"}
    list(bridge.converted(statuses.status(door=statuses.camera(state="open"), gate=statuses.camera()), 1.0))
    assert bridge.in_use
    assert snapshot not in bridge.in_use
    assert "homeassistant/camera/edged_test/door_snapshot/config" not in bridge.in_use
    list(bridge.converted(statuses.status(gate=statuses.camera()), 2.0))
    assert not [topic for topic in bridge.in_use if "/door" in topic]


def test_a_prediction_that_waited_while_its_camera_was_removed_is_dropped() -> None:
    bridge = bridge_of()
    list(bridge.converted(statuses.status(door=statuses.camera(), gate=statuses.camera()), 0.0))
    for label in ("open", "closed"):
        list(bridge.converted(arrival(statuses.prediction(label, camera="door")), 0.1))
    messages = by_topic(bridge.converted(statuses.status(gate=statuses.camera()), 5.0))
    assert "edged/test/door/prediction" not in messages


def test_discovery_can_be_left_out() -> None:
    assert (
        discovered(bridge_of(MqttConfig(address="mqtt://127.0.0.1", discovery=None)), door=statuses.camera()) == {}
    )


@pytest.mark.parametrize(
    ("address", "host", "port", "is_encrypted"),
    [
        ("mqtt://127.0.0.1", "127.0.0.1", 1883, False),
        ("mqtt://localhost:1884", "127.0.0.1", 1884, False),
        ("mqtts://broker", "broker", 8883, True),
        ("mqtts://[::1]:99", "::1", 99, True),
        ("mqtts://[::1]", "::1", 8883, True),
    ],
)
def test_an_address_without_a_port_has_that_of_mqtt(
    address: str, host: str, port: int, *, is_encrypted: bool
) -> None:
    mqtt = MqttConfig(address=address)
    assert (mqtt.host_and_port, mqtt.is_encrypted) == ((host, port), is_encrypted)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"address": "mqtt://broker"}, "is unencrypted: use mqtts://, or add insecure: true"),
        ({"address": "tcp://broker"}, "String should match pattern"),
        ({"address": "mqtt://127.0.0.1", "topic": "edged/#"}, "String should match pattern"),
        ({"address": "mqtt://127.0.0.1", "password_file": "p"}, "requires user"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MqttConfig.model_validate(fields)
