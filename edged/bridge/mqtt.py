"""Convert what a node publishes to MQTT messages, in a form that home automation reads."""

import math
from collections.abc import Iterator

from edged.bridge.topics import (
    OFFLINE,
    ONLINE,
    Discovery,
    MqttMessage,
    Topics,
    event_message,
    prediction_message,
    retained_topics,
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
        self._states = config.states
        self._status: Status | None = None
        self.in_use: frozenset[str] | None = (
            None  # topics that the broker may retain; None: before the first status
        )
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
                yield event_message(self._topics, message)
                if message.camera and message.state:
                    yield state_message(self._topics, message.camera, message.state, message.name)
            case SnapshotPicture(header=header, jpeg=jpeg):
                yield snapshot_message(self._topics, header.camera, jpeg)
        yield from self._due(now_s)

    def _of_status(self, status: Status) -> Iterator[MqttMessage]:
        if self._status is None or _snapshots(status) != _snapshots(self._status):
            entities = [*self._discovery.of_all(_snapshots(status))] if self._discovery else []
            topics = retained_topics(self._topics, _snapshots(status), self._states)
            self.in_use = frozenset([*topics, *(entity.topic for entity in entities)])
            yield from entities
        yield from status_messages(self._topics, status, self._status)
        yield self.availability(online=True)
        self._status = status

    def _due(self, now_s: float) -> Iterator[MqttMessage]:
        """Yield the newest prediction of each camera whose last one is old enough, and that a node is silent."""
        for camera in [*self._waiting]:
            if self._status and camera not in self._status.camera_states:
                del self._waiting[camera]  # it was removed
            elif now_s - self._sent_s.get(camera, -math.inf) >= self._every_s:
                self._sent_s[camera] = now_s
                yield prediction_message(self._topics, self._waiting.pop(camera))
        if self._heard_s is not None and now_s - self._heard_s > STALE_S:
            self._heard_s = None
            yield self.availability(online=False)


def _snapshots(status: Status) -> dict[str, bool]:
    """Return which cameras there are, and whether they have pictures published: what their entities depend on."""
    return {name: camera.snapshots for name, camera in status.camera_states.items()}
