"""The MQTT messages of a node: what each topic carries."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from edged.messages import CameraState, Event, Prediction, Status

ONLINE, OFFLINE = "online", "offline"


@dataclass(frozen=True, slots=True)
class MqttMessage:
    """A message for the broker. `retain`: the broker gives it to later subscribers, too; QoS 0 may lose it."""

    topic: str
    payload: str | bytes
    retain: bool = True
    qos: int = 1


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a node, below `PREFIX/NODE`."""

    prefix: str
    node: str

    @property
    def availability(self) -> str:
        return f"{self.prefix}/{self.node}/availability"

    @property
    def status(self) -> str:
        return f"{self.prefix}/{self.node}/status"

    def of_camera(self, camera: str, what: str) -> str:
        return f"{self.prefix}/{self.node}/{camera}/{what}"


# What each camera has; retained, so a camera that is removed needs each of them emptied.
OF_CAMERA = ("availability", "prediction", "state", "statistics", "snapshot")


def prediction_message(topics: Topics, prediction: Prediction) -> MqttMessage:
    """Return the best label of a prediction, with its numbers."""
    best = prediction.top[0]
    fields = {
        "label": best.label,
        "score": round(best.score, 4),
        "seq": prediction.seq,
        "frame": prediction.frame,
        "captured_at": prediction.captured_at,
        "seconds": round(prediction.seconds.total, 4),
    }
    return MqttMessage(topics.of_camera(prediction.camera, "prediction"), _json(fields))


def event_message(topics: Topics, event: Event) -> MqttMessage:
    """Return an event as it was published."""
    topic = topics.of_camera(event.camera, "event") if event.camera else f"{topics.prefix}/{topics.node}/event"
    return MqttMessage(topic, msgspec.json.encode(event), retain=False)


def state_message(topics: Topics, camera: str, state: str) -> MqttMessage:
    """Return what a camera sees."""
    return MqttMessage(topics.of_camera(camera, "state"), state)


def snapshot_message(topics: Topics, camera: str, jpeg: bytes) -> MqttMessage:
    """Return a picture; the next one replaces it, so none is sent twice."""
    return MqttMessage(topics.of_camera(camera, "snapshot"), jpeg, qos=0)


def status_messages(topics: Topics, status: Status, before: Status | None) -> Iterator[MqttMessage]:
    """Yield the state of node and cameras. before: the last status of this start, for frames per second."""
    serving = [worker.device for worker in status.workers.values() if worker.state == "serving"]
    node = {"device": ", ".join(serving) or None, "last_seq": status.last_seq, "joules": status.energy.rails}
    yield MqttMessage(topics.status, _json(node))
    for name, camera in status.camera_states.items():
        yield MqttMessage(topics.of_camera(name, "availability"), ONLINE if camera.up else OFFLINE)
        yield MqttMessage(topics.of_camera(name, "statistics"), _json(_statistics(name, camera, status, before)))
        if camera.state:
            yield state_message(topics, name, camera.state)


def removed_messages(topics: Topics, camera: str) -> Iterator[MqttMessage]:
    """Yield what removes a camera's retained messages: an empty one each (MQTT 3.1.1, 3.3.1.3)."""
    for what in OF_CAMERA:
        yield MqttMessage(topics.of_camera(camera, what), "")


def _statistics(name: str, camera: CameraState, status: Status, before: Status | None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "captured": camera.captured,
        "predicted": camera.predicted,
        "dropped": sum(camera.dropped.values()),
        "frozen": camera.frozen,
        "error": camera.error,
    }
    earlier = before.camera_states.get(name) if before and before.boot == status.boot else None
    if before and earlier and status.at > before.at:
        fields["fps"] = round((camera.predicted - earlier.predicted) / (status.at - before.at), 2)
    return fields


def _json(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)
