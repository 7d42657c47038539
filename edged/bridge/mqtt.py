"""Carry what a node publishes to an MQTT broker, in a form that home automation reads."""

import math
from collections.abc import Iterator

from edged.bridge.discovery import Discovery
from edged.bridge.topics import (
    OFFLINE,
    ONLINE,
    MqttMessage,
    Topics,
    event_message,
    prediction_message,
    removed_messages,
    snapshot_message,
    state_message,
    status_messages,
)
from edged.client.board import STALE_S
from edged.client.subscription import Arrival, SnapshotPicture, StreamMessage
from edged.config import Config, MqttConfig
from edged.messages import Event, Prediction, Status


class MqttBridge:
    """Converts the messages of one node."""

    def __init__(self, config: Config, mqtt: MqttConfig) -> None:
        self._topics, self._every_s = Topics(mqtt.topic, config.node), mqtt.every_s
        self._discovery = Discovery(mqtt.discovery, self._topics, config.states) if mqtt.discovery else None
        self._status: Status | None = None
        self._heard_s: float | None = None
        self._sent_s: dict[str, float] = {}  # by camera: when its last prediction was published
        self._waiting: dict[str, Prediction] = {}  # the newest of each camera, too early for the broker

    def availability(self, *, online: bool) -> MqttMessage:
        """Return whether the node publishes."""
        return MqttMessage(self._topics.availability, ONLINE if online else OFFLINE)

    def converted(self, message: StreamMessage | SnapshotPicture | None, now_s: float) -> Iterator[MqttMessage]:
        """Yield what a message of the stream says, and what is due. `now_s`: of a monotonic clock."""
        match message:
            case Arrival(prediction=prediction):
                self._waiting[prediction.camera] = prediction
            case Status():
                self._heard_s = now_s
                yield from self._of_status(message)
            case Event():
                yield from self._of_event(message)
            case SnapshotPicture(header=header, jpeg=jpeg):
                yield snapshot_message(self._topics, header.camera, jpeg)
        yield from self._due(now_s)

    def _of_status(self, status: Status) -> Iterator[MqttMessage]:
        yield from self._removed(status)
        if self._discovery and (self._status is None or _snapshots(status) != _snapshots(self._status)):
            yield from self._discovery.of_node()
            for name, camera in status.camera_states.items():
                yield from self._discovery.of_camera(name, snapshots=camera.snapshots)
        yield from status_messages(self._topics, status, self._status)
        yield self.availability(online=True)
        self._status = status

    def _removed(self, status: Status) -> Iterator[MqttMessage]:
        """Remove what the broker retains of cameras that are no longer in the config."""
        before = self._status.camera_states if self._status else {}
        for camera in before.keys() - status.camera_states.keys():
            self._waiting.pop(camera, None)
            yield from removed_messages(self._topics, camera)
            if self._discovery:
                yield from self._discovery.removed(camera)

    def _of_event(self, event: Event) -> Iterator[MqttMessage]:
        yield event_message(self._topics, event)
        if event.camera and event.state:
            yield state_message(self._topics, event.camera, event.state)

    def _due(self, now_s: float) -> Iterator[MqttMessage]:
        """Yield the newest prediction of each camera whose last one is old enough, and that a node is silent."""
        for camera in [*self._waiting]:
            if now_s - self._sent_s.get(camera, -math.inf) >= self._every_s:
                self._sent_s[camera] = now_s
                yield prediction_message(self._topics, self._waiting.pop(camera))
        if self._heard_s is not None and now_s - self._heard_s > STALE_S:
            self._heard_s = None
            yield self.availability(online=False)


def _snapshots(status: Status) -> dict[str, bool]:
    """Return which cameras there are, and whether they have pictures published: what their entities depend on."""
    return {name: camera.snapshots for name, camera in status.camera_states.items()}
