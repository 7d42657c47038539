"""Carry what a node publishes to an MQTT broker, in a form that home automation reads.

The connection comes back by itself, with the last message of each retained topic. The only module that imports
paho-mqtt, an optional dependency.
"""

import logging
import math
import time
from collections.abc import Iterator
from typing import Any

from edged.bridge.topics import (
    OFFLINE,
    ONLINE,
    Discovery,
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
from edged.config.load import password_in
from edged.errors import ConfigError
from edged.messages import Event, Prediction, Status
from edged.system.backoff import Backoff
from edged.system.python_packages import install_command
from edged.transport.tls import client_context

KEEPALIVE_S = 15
LONGEST_WAIT_S = 60  # between two attempts to connect; a connection that lasts so long has succeeded
QUEUED = 1000  # events that wait for a broker; of a retained topic only the last message waits

log = logging.getLogger("edged.bridge")


class Broker:
    """Publishes to a broker, in threads of paho-mqtt."""

    def __init__(self, config: MqttConfig, client_id: str, will: MqttMessage) -> None:
        """`will`: what the broker publishes if this process ends without a word. Raises ConfigError."""
        try:
            from paho.mqtt import client as mqtt
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise ConfigError(f"edged bridge mqtt needs paho-mqtt: {install_command('paho-mqtt')}") from None
        self._config = config
        self._last: dict[str, MqttMessage] = {}
        self._problem = ""
        self._backoff = Backoff(longest_s=LONGEST_WAIT_S)  # after connections that the broker ends soon
        self._connected_s: float | None = None
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=client_id)
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_connect_fail = self._on_connect_fail
        self._client.max_queued_messages_set(QUEUED)
        self._client.reconnect_delay_set(1, LONGEST_WAIT_S)
        self._client.will_set(will.topic, will.payload, will.qos, will.retain)
        if config.user is not None:
            password = password_in(config.password_file) if config.password_file else None
            self._client.username_pw_set(config.user, password)
        if config.is_encrypted:
            self._client.tls_set_context(client_context(config.ca))

    def start(self) -> None:
        """Connect, now and whenever the connection is lost."""
        host, port = self._config.host_and_port
        self._client.connect_async(host, port, KEEPALIVE_S)
        self._client.loop_start()

    def publish(self, message: MqttMessage) -> None:
        """Publish a message; a retained one that repeats the last of its topic is left out."""
        if message.retain:
            if self._last.get(message.topic) == message:
                return
            self._last[message.topic] = message
            if not self._client.is_connected():
                return  # `_on_connect` publishes it
        self._send(message)

    def stop(self, *messages: MqttMessage) -> None:
        """Publish the last messages, and disconnect."""
        for message in messages:
            self.publish(message)
        self._client.disconnect()
        self._client.loop_stop()

    def _send(self, message: MqttMessage) -> None:
        self._client.publish(message.topic, message.payload, message.qos, message.retain)

    def _on_connect(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            self._report(f"{self._config.address} rejects the connection: {reason}")
            return
        self._connected_s = time.monotonic()
        log.info("connected to %s", self._config.address)
        for message in list(self._last.values()):
            self._send(message)

    def _on_disconnect(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if self._connected_s is None:  # it was rejected, as reported
            return
        if time.monotonic() - self._connected_s > LONGEST_WAIT_S:
            self._problem = ""
            self._backoff.succeeded()
        self._connected_s = None
        if reason.is_failure:
            self._report(f"the connection to {self._config.address} is lost: {reason}")
            wait_s = math.ceil(self._backoff.failed())
            log.info("next attempt in %d s", wait_s)
            self._client.reconnect_delay_set(wait_s, LONGEST_WAIT_S)  # paho itself begins again by the shortest

    def _on_connect_fail(self, _client: Any, _data: Any) -> None:
        or_refused = ", or its certificate is not trusted" if self._config.is_encrypted else ""
        self._report(f"{self._config.address} does not answer{or_refused}")

    def _report(self, problem: str) -> None:
        """Log a problem once, until a connection lasts."""
        if problem != self._problem:
            log.warning("%s; trying again", problem)
        self._problem = problem


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
