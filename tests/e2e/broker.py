"""A real MQTT broker, mosquitto, on a free port and in a folder of its own, and a client that listens."""

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from paho.mqtt import client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from tests.eventually import eventually

PROGRAM = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


def has_broker() -> None:
    """Skip the test where there is none."""
    if PROGRAM is None:
        pytest.skip("mosquitto is not installed (apt install mosquitto)")


@contextmanager
def mosquitto(folder: Path, port: int, *lines: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the broker with these lines of its config until the block ends."""
    file = folder / "mosquitto.conf"
    file.write_text("\n".join([f"listener {port} 127.0.0.1", "user root", *lines]) + "\n")
    assert PROGRAM
    with (folder / "mosquitto.log").open("a") as log:
        process = subprocess.Popen([PROGRAM, "-c", str(file)], stdout=log, stderr=log)
    try:
        eventually(lambda: _listens(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "mosquitto.log").read_text()
        yield process
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Listener:
    """Keeps the last message of each topic, and how many there were."""

    def __init__(self, port: int) -> None:
        self.last: dict[str, str] = {}
        self._changed = threading.Lock()
        self._client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self._client.on_connect = lambda client, *_: client.subscribe("#", 1)
        self._client.on_message = self._received
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def _received(self, _client: mqtt.Client, _data: object, message: mqtt.MQTTMessage) -> None:
        with self._changed:
            self.last[message.topic] = message.payload.decode(errors="replace")

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


@contextmanager
def listener(port: int) -> Iterator[Listener]:
    listens = Listener(port)
    try:
        yield listens
    finally:
        listens.close()


@contextmanager
def bridge(config: Path, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run `edged bridge mqtt`; what it logs is in `folder`/bridge.log."""
    with (folder / "bridge.log").open("a") as log:
        command = [sys.executable, "-m", "edged", "bridge", "mqtt", str(config)]
        process = subprocess.Popen(command, stdout=log, stderr=log, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert "Traceback" not in (folder / "bridge.log").read_text()
