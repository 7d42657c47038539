"""`edged bridge`: carry what a node publishes to other systems."""

import argparse
import time
from contextlib import suppress
from pathlib import Path

import zmq

from edged.bridge.broker import Broker
from edged.bridge.mqtt import MqttBridge
from edged.cli.options import add_example, add_hub_keys
from edged.cli.terminal import interrupt_on_sigterm, note
from edged.client.subscription import Subscription
from edged.config import Config, MqttConfig
from edged.config.load import load_config
from edged.errors import ConfigError
from edged.transport.client_socket import Curve, curve_of

POLL_MS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of bridges."""
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    summary = "publish states, predictions and pictures to an MQTT broker, for Home Assistant and others"
    mqtt = kinds.add_parser("mqtt", help=summary, description=summary)
    what = "the config of the node, with a section `mqtt`"
    mqtt.add_argument("config", type=Path, metavar="CONFIG", help=what)
    add_hub_keys(mqtt)
    add_example(mqtt, "edged bridge mqtt edged.yaml")


def run(arguments: argparse.Namespace) -> int:
    """Carry messages until Ctrl-C or SIGTERM."""
    config = load_config(arguments.config)
    if config.mqtt is None:
        raise ConfigError(
            f"{arguments.config}: section mqtt is missing: expected `mqtt: {{address: mqtt://HOST}}`"
        )
    curve = curve_of(arguments.key, arguments.server_key)
    interrupt_on_sigterm()
    with suppress(KeyboardInterrupt):
        carry(config, config.mqtt, curve)
    return 0


def carry(config: Config, mqtt: MqttConfig, curve: Curve | None) -> None:
    """Carry messages until KeyboardInterrupt. Raises ConfigError."""
    bridge = MqttBridge(config, mqtt)
    broker = Broker(mqtt, f"edged-{config.node}", bridge.availability(online=False))
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    address = config.publish.address
    stream = Subscription(context, address, topic=f"edged/{config.node}/", curve=curve)
    pictures = Subscription(context, address, topic=f"snapshot/{config.node}/", curve=curve)
    note(f"carrying {config.node} from {address} to {mqtt.address}; Ctrl-C ends it")
    broker.start()
    try:
        while True:
            for received in (stream.receive(POLL_MS), pictures.receive_picture(0)):
                for message in bridge.converted(received, time.monotonic()):
                    broker.publish(message)
    finally:
        broker.stop(bridge.availability(online=False))
        for subscription in (stream, pictures):
            subscription.close()
        context.term()
