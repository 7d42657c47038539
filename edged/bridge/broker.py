"""A connection to an MQTT broker that comes back by itself, with the last message of each retained topic.

The only module that imports paho-mqtt, an optional dependency.
"""

import logging
from typing import Any

from edged.bridge.topics import MqttMessage
from edged.config import MqttConfig
from edged.config.load import password_in
from edged.errors import ConfigError
from edged.transport.tls import client_context

INSTALL = "pip install paho-mqtt"
KEEPALIVE_S = 15
LONGEST_WAIT_S = 60  # between two attempts to connect; the first comes after a second
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
            raise ConfigError(f"edged bridge mqtt needs paho-mqtt: {INSTALL}") from None
        self._config = config
        self._last: dict[str, MqttMessage] = {}
        self._problem = ""
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
        self._problem = ""
        log.info("connected to %s", self._config.address)
        for message in list(self._last.values()):
            self._send(message)

    def _on_disconnect(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure and not self._problem:
            self._report(f"the connection to {self._config.address} is lost: {reason}")

    def _on_connect_fail(self, _client: Any, _data: Any) -> None:
        or_refused = ", or its certificate is not trusted" if self._config.is_encrypted else ""
        self._report(f"{self._config.address} does not answer{or_refused}")

    def _report(self, problem: str) -> None:
        """Log a problem once; the next connection solves it."""
        if problem != self._problem:
            log.warning("%s; trying again", problem)
        self._problem = problem
