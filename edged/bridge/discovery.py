"""Messages from which Home Assistant makes entities by itself (its MQTT discovery)."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from edged import __version__
from edged.bridge.topics import OFFLINE, ONLINE, MqttMessage, Topics
from edged.config import UNKNOWN, StateConfig

Fields = dict[str, Any]


class Discovery:
    """The discovery messages of a node, below `PREFIX/`, for a Home Assistant that listens there."""

    def __init__(self, prefix: str, topics: Topics, states: Mapping[str, StateConfig]) -> None:
        self._prefix, self._topics, self._states = prefix, topics, states

    def of_node(self) -> Iterator[MqttMessage]:
        """Yield the entities of the node: whether it runs, and which device answers."""
        device = {"device": self._device(None)}
        running = {"name": "Running", "state_topic": self._topics.availability, "device_class": "connectivity"}
        yield self._entity("binary_sensor", None, "running", running | on_off() | device)
        answers = {"name": "Answers on", "state_topic": self._topics.status}
        template = {"value_template": "{{ value_json.device }}"}
        yield self._entity("sensor", None, "device", answers | template | self._available() | device)

    def of_camera(self, camera: str, *, snapshots: bool) -> Iterator[MqttMessage]:
        """Yield the entities of a camera; `snapshots`: it has pictures published."""
        device = {"device": self._device(camera)}
        for component, what, fields in self._entities_of(camera, snapshots, camera in self._states):
            yield self._entity(component, camera, what, fields | device)

    def removed(self, camera: str) -> Iterator[MqttMessage]:
        """Yield what removes the entities of a camera."""
        for component, what, _ in self._entities_of(camera, snapshots=True, with_state=True):
            yield MqttMessage(self._topic(component, camera, what), "")

    def _entities_of(self, camera: str, snapshots: bool, with_state: bool) -> Iterator[tuple[str, str, Fields]]:
        """Yield component, name in topics, and fields of each entity."""
        available = self._available(camera)
        prediction = {"state_topic": self._topics.of_camera(camera, "prediction")} | available
        yield "sensor", "label", prediction | {"name": "Label", "value_template": "{{ value_json.label }}"}
        percent = {"unit_of_measurement": "%", "state_class": "measurement", "suggested_display_precision": 0}
        score = {"name": "Score", "value_template": "{{ (value_json.score * 100) | round(1) }}"}
        yield "sensor", "score", prediction | score | percent
        if with_state:
            yield "sensor", "state", self._state(camera) | available
        if snapshots:
            topic = self._topics.of_camera(camera, "snapshot")
            yield "camera", "snapshot", {"name": "Snapshot", "topic": topic} | available
        yield from self._diagnostics(camera)

    def _diagnostics(self, camera: str) -> Iterator[tuple[str, str, Fields]]:
        """Yield what an owner looks at when something is wrong."""
        diagnostic = {"entity_category": "diagnostic"}
        up = {"name": "Up", "state_topic": self._topics.of_camera(camera, "availability")}
        node = self._available()
        yield "binary_sensor", "up", up | on_off() | {"device_class": "connectivity"} | diagnostic | node
        statistics = {"state_topic": self._topics.of_camera(camera, "statistics")} | diagnostic | node
        fps = {"name": "Rate", "unit_of_measurement": "fps", "state_class": "measurement"}
        yield "sensor", "fps", statistics | fps | {"value_template": "{{ value_json.fps }}"}
        dropped = {"name": "Dropped frames", "state_class": "total_increasing"}
        yield "sensor", "dropped", statistics | dropped | {"value_template": "{{ value_json.dropped }}"}

    def _state(self, camera: str) -> Fields:
        wanted = self._states.get(camera)
        labels = list(wanted.labels) if wanted else []
        topic = self._topics.of_camera(camera, "state")
        return {"name": "State", "state_topic": topic, "device_class": "enum", "options": [*labels, UNKNOWN]}

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
        return MqttMessage(self._topic(component, camera, what), json.dumps(payload, ensure_ascii=False))

    def _topic(self, component: str, camera: str | None, what: str) -> str:
        """Return PREFIX/COMPONENT/NODE/OBJECT/config; Home Assistant takes letters, digits, - and _ there."""
        node, name = (re.sub(r"[^A-Za-z0-9_-]", "_", part or "") for part in (self._topics.node, camera))
        object_id = f"{name}_{what}" if camera else what
        return f"{self._prefix}/{component}/edged_{node}/{object_id}/config"


def on_off() -> Fields:
    """Return the payloads of a binary sensor that shows an availability."""
    return {"payload_on": ONLINE, "payload_off": OFFLINE}
