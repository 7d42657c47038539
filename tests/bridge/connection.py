"""The connection of a bridge to an MQTT broker."""

from collections.abc import Iterator
from contextlib import contextmanager

from edged.bridge.broker import Broker
from edged.bridge.retained import RetainedTopics
from edged.bridge.topics import MqttMessage
from edged.config import MqttConfig

WILL = MqttMessage("edged/test/availability", "offline")


@contextmanager
def connected(port: int) -> Iterator[Broker]:
    """What a bridge publishes by."""
    address = f"mqtt://127.0.0.1:{port}"
    broker = Broker(MqttConfig(address=address), "edged-test", WILL, RetainedTopics("test", address))
    broker.start()
    yield broker
    broker.stop(WILL)
