"""The MQTT messages of a node: what each topic carries, and those from which Home Assistant makes entities."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from edged import __version__
from edged.config import UNKNOWN, StateConfig
from edged.messages import Box, CameraState, Event, Prediction, Status
from edged.messages.published import ABSENT, PRESENT

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


def prediction_message(topics: Topics, prediction: Prediction) -> MqttMessage:
    """Return the best label of a prediction, with its numbers; of independent scores all that are there, too.

    Of a detector it has the boxes, too.
    """
    best = prediction.top[0] if prediction.top else None
    independent = prediction.model.scores == "independent"
    fields = {
        "label": best.label if best else "",
        "score": round(best.score, 4) if best else 0.0,
        **({"labels": [answer.label for answer in prediction.top]} if independent else {}),
        **({"boxes": [*map(_box, prediction.boxes)]} if prediction.boxes is not None else {}),
        "seq": prediction.seq,
        "frame": prediction.frame,
        "captured_at": prediction.captured_at,
        "seconds": round(prediction.seconds.total, 4),
    }
    return MqttMessage(topics.of_camera(prediction.camera, "prediction"), _json(fields))


def _box(box: Box) -> "Fields":
    corners = [round(corner, 4) for corner in box.box]
    return {"label": box.label, "score": round(box.score, 4), "box": corners, "track": box.track}


def event_message(topics: Topics, event: Event) -> MqttMessage:
    """Return an event as it was published."""
    topic = topics.of_camera(event.camera, "event") if event.camera else f"{topics.prefix}/{topics.node}/event"
    return MqttMessage(topic, msgspec.json.encode(event), retain=False)


def state_message(topics: Topics, camera: str, state: str, name: str | None = None) -> MqttMessage:
    """Return what a camera sees; `name`: which of its `present` and `count`."""
    return MqttMessage(topics.of_camera(camera, "state" if name is None else f"state/{name}"), state)


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
        for state, is_there in camera.present.items():
            yield state_message(topics, name, PRESENT if is_there else ABSENT, state)
        for state, number in camera.count.items():
            yield state_message(topics, name, str(number), state)


def retained_topics(
    topics: Topics, cameras: Mapping[str, bool], states: Mapping[str, StateConfig]
) -> Iterator[str]:
    """Yield the topics that a broker retains of a node; `cameras`: whether each has pictures published."""
    yield from (topics.availability, topics.status)
    for camera, snapshots in cameras.items():
        for what in ("availability", "prediction", "statistics"):
            yield topics.of_camera(camera, what)
        if snapshots:
            yield topics.of_camera(camera, "snapshot")
        if camera in states:
            if states[camera].labels:
                yield topics.of_camera(camera, "state")
            for name in (*states[camera].present, *states[camera].count):
                yield topics.of_camera(camera, f"state/{name}")


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


Fields = dict[str, Any]


class Discovery:
    """The discovery messages of a node, below `PREFIX/`, for a Home Assistant that listens there."""

    def __init__(self, prefix: str, topics: Topics, states: Mapping[str, StateConfig]) -> None:
        self._prefix, self._topics, self._states = prefix, topics, states

    def of_all(self, cameras: Mapping[str, bool]) -> Iterator[MqttMessage]:
        """Yield the entities of the node and its cameras; `cameras`: whether each has pictures published."""
        yield from self.of_node()
        for camera, snapshots in cameras.items():
            yield from self.of_camera(camera, snapshots=snapshots)

    def of_node(self) -> Iterator[MqttMessage]:
        """Yield the entities of the node: whether it runs, and which device answers."""
        device = {"device": self._device(None)}
        running = {"name": "Running", "state_topic": self._topics.availability, "device_class": "connectivity"}
        yield self._entity("binary_sensor", None, "running", running | on_off() | device)
        answers = {"name": "Inference device", "state_topic": self._topics.status}
        template = {"value_template": "{{ value_json.device }}"}
        yield self._entity("sensor", None, "device", answers | template | self._available() | device)

    def of_camera(self, camera: str, *, snapshots: bool) -> Iterator[MqttMessage]:
        """Yield the entities of a camera; `snapshots`: it has pictures published."""
        device = {"device": self._device(camera)}
        for component, what, fields in self._entities_of(camera, snapshots):
            yield self._entity(component, camera, what, fields | device)

    def _entities_of(self, camera: str, snapshots: bool) -> Iterator[tuple[str, str, Fields]]:
        """Yield component, name in topics, and fields of each entity."""
        available = self._available(camera)
        prediction = {"state_topic": self._topics.of_camera(camera, "prediction")} | available
        yield "sensor", "label", prediction | {"name": "Label", "value_template": "{{ value_json.label }}"}
        percent = {"unit_of_measurement": "%", "state_class": "measurement", "suggested_display_precision": 0}
        score = {"name": "Score", "value_template": "{{ (value_json.score * 100) | round(1) }}"}
        yield "sensor", "score", prediction | score | percent
        for component, what, fields in self._states_of(camera):
            yield component, what, fields | available
        if snapshots:
            topic = self._topics.of_camera(camera, "snapshot")
            yield "camera", "snapshot", {"name": "Snapshot", "topic": topic} | available
        yield from self._diagnostics(camera)

    def _states_of(self, camera: str) -> Iterator[tuple[str, str, Fields]]:
        """Yield what `states` of the config names."""
        wanted = self._states.get(camera)
        if wanted is None:
            return
        if wanted.labels:
            yield "sensor", "state", self._state(camera)
        if wanted.device_class:
            yield "binary_sensor", "state_on", self._binary_state(camera)
        for name, each in wanted.present.items():
            shown = {"name": _shown(name), "state_topic": self._topics.of_camera(camera, f"state/{name}")}
            device_class = {"device_class": each.device_class} if each.device_class else {}
            payloads = {"payload_on": PRESENT, "payload_off": ABSENT}
            yield "binary_sensor", f"state_{name}", shown | payloads | device_class
        for name in wanted.count:
            shown = {"name": _shown(name), "state_topic": self._topics.of_camera(camera, f"state/{name}")}
            yield "sensor", f"state_{name}", shown | {"state_class": "measurement"}

    def _diagnostics(self, camera: str) -> Iterator[tuple[str, str, Fields]]:
        """Yield what an owner looks at when something is wrong."""
        diagnostic = {"entity_category": "diagnostic"}
        up = {"name": "Up", "state_topic": self._topics.of_camera(camera, "availability")}
        node = self._available()
        yield "binary_sensor", "up", up | on_off() | {"device_class": "connectivity"} | diagnostic | node
        statistics = {"state_topic": self._topics.of_camera(camera, "statistics")} | diagnostic | node
        fps = {"name": "Rate", "unit_of_measurement": "fps", "state_class": "measurement"}
        template = "{{ value_json.fps | default(none) }}"  # the first statistics have no rate yet
        yield "sensor", "fps", statistics | fps | {"value_template": template}
        dropped = {"name": "Dropped frames", "state_class": "total_increasing"}
        yield "sensor", "dropped", statistics | dropped | {"value_template": "{{ value_json.dropped }}"}

    def _state(self, camera: str) -> Fields:
        options = [*self._states[camera].labels, UNKNOWN]
        topic = self._topics.of_camera(camera, "state")
        return {"name": "State", "state_topic": topic, "device_class": "enum", "options": options}

    def _binary_state(self, camera: str) -> Fields:
        """Return the fields of a sensor that is on for the first label."""
        wanted = self._states[camera]
        on, off = wanted.labels
        topic = self._topics.of_camera(camera, "state")
        template = f"{{{{ 'None' if value == '{UNKNOWN}' else value }}}}"  # by which Home Assistant means unknown
        shown = {"name": on.capitalize(), "device_class": wanted.device_class}
        return shown | {"state_topic": topic, "payload_on": on, "payload_off": off, "value_template": template}

    def _available(self, camera: str | None = None) -> Fields:
        """Return the topics that must all be online for an entity to be available."""
        topics = [self._topics.availability]
        if camera:
            topics.append(self._topics.of_camera(camera, "availability"))
        entries = [
            {"topic": topic, "payload_available": ONLINE, "payload_not_available": OFFLINE} for topic in topics
        ]
        return {"availability": entries, "availability_mode": "all"}

    def _device(self, camera: str | None) -> Fields:
        node = f"edged_{self._topics.node}"
        about = {"manufacturer": "edged", "sw_version": __version__}
        if camera is None:
            return {"identifiers": [node], "name": f"edged {self._topics.node}"} | about
        name = f"{camera} ({self._topics.node})"
        return {"identifiers": [f"{node}_{camera}"], "name": name, "via_device": node} | about

    def _entity(self, component: str, camera: str | None, what: str, fields: Fields) -> MqttMessage:
        """Return the discovery message of an entity."""
        unique_id = "_".join(filter(None, ("edged", self._topics.node, camera, what)))
        origin = {"name": "edged", "sw_version": __version__}
        payload = {"unique_id": unique_id, "origin": origin, **fields}
        # Home Assistant takes letters, digits, - and _ in PREFIX/COMPONENT/NODE/OBJECT/config
        node, name = (re.sub(r"[^A-Za-z0-9_-]", "_", part or "") for part in (self._topics.node, camera))
        object_id = f"{name}_{what}" if camera else what
        topic = f"{self._prefix}/{component}/edged_{node}/{object_id}/config"
        return MqttMessage(topic, json.dumps(payload, ensure_ascii=False))


def _shown(name: str) -> str:
    """Return the name of an entity: `parked_cars` as `Parked cars`."""
    return name.replace("_", " ").capitalize()


def on_off() -> Fields:
    """Return the payloads of a binary sensor that shows an availability."""
    return {"payload_on": ONLINE, "payload_off": OFFLINE}
