"""`edged bridge`: carry what a node publishes to other systems."""

import argparse
import asyncio
import logging
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import zmq

from edged.bridge.broker import Broker
from edged.bridge.mqtt import MqttBridge
from edged.bridge.nats import NatsBridge
from edged.bridge.retained import RetainedTopics
from edged.cli.options import add_example, add_hub_keys
from edged.client.subscription import Subscription
from edged.config import Config, MqttConfig, NatsConfig
from edged.config.load import load_config
from edged.config.validation_errors import missing_section
from edged.system import log
from edged.system.terminal import interrupt_on_sigterm, note
from edged.transport.client_socket import Curve, curve_of

POLL_MS = 100


MQTT = "publish states, predictions and pictures to an MQTT broker, for Home Assistant and others"
NATS = "publish predictions, each exactly once, and events to a fleet's stream in NATS JetStream"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of bridges."""
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for name, summary in (("mqtt", MQTT), ("nats", NATS)):
        kind = kinds.add_parser(name, help=summary, description=summary)
        what = f"the config of the node, with a section `{name}`"
        kind.add_argument("config", type=Path, metavar="CONFIG", help=what)
        add_hub_keys(kind)
        add_example(kind, f"edged bridge {name} edged.yaml")


def run(arguments: argparse.Namespace) -> int:
    """Carry messages until Ctrl-C or SIGTERM. Raises ConfigError."""
    log.configure()
    config = load_config(arguments.config)
    if config.log.format != "text":
        os.environ[log.FORMAT_VARIABLE] = config.log.format
        log.configure()
    curve = curve_of(arguments.key, arguments.server_key)
    if arguments.kind == "nats":
        if config.nats is None:
            raise missing_section(arguments.config, "nats", "{servers: ['tls://HOST']}")
        asyncio.run(carry_to_nats(config, config.nats, curve))
        return 0
    if config.mqtt is None:
        raise missing_section(arguments.config, "mqtt", "{address: mqtt://HOST}")
    interrupt_on_sigterm()
    with suppress(KeyboardInterrupt):
        carry(config, config.mqtt, curve)
    return 0


async def carry_to_nats(config: Config, nats: NatsConfig, curve: Curve | None) -> None:
    """Carry messages until SIGINT or SIGTERM. Raises ConfigError."""
    bridge = NatsBridge(config, nats, curve)
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # nats-py has it warn at the end of each TLS connection
    note(f"carrying {config.node} from {config.publish.address} to {', '.join(nats.servers)}; Ctrl-C ends it")
    carrying = asyncio.create_task(bridge.run())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, carrying.cancel)
    with suppress(asyncio.CancelledError):
        await carrying


def carry(config: Config, mqtt: MqttConfig, curve: Curve | None) -> None:
    """Carry messages until KeyboardInterrupt. Raises ConfigError."""
    bridge = MqttBridge(config, mqtt)
    topics = RetainedTopics(config.node, mqtt.address)
    broker = Broker(mqtt, f"edged-{config.node}", bridge.availability(online=False), topics)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    address = config.publish.address
    stream = Subscription(context, address, topic=f"edged/{config.node}/", curve=curve)
    pictures = Subscription(context, address, topic=f"snapshot/{config.node}/", curve=curve)
    note(f"carrying {config.node} from {address} to {mqtt.address}; Ctrl-C ends it")
    broker.start()
    try:
        while True:
            for received in (stream.receive(POLL_MS), pictures.receive_picture(0)):
                broker.publish([*bridge.converted(received, time.monotonic())], bridge.in_use)
    finally:
        broker.stop(bridge.availability(online=False))
        for subscription in (stream, pictures):
            subscription.close()
        context.term()
