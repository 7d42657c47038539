"""The connection to a real MQTT broker that hangs, restarts, and refuses."""

import logging
import re
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from edged.bridge import broker as module
from edged.bridge.topics import MqttMessage
from tests.bridge.connection import WILL, connected
from tests.e2e.broker import has_broker, listener, mosquitto
from tests.eventually import TURN_S, eventually, free_port, in_background

OPEN = ("allow_anonymous true",)
TOPIC = "edged/test/door/state"


@pytest.fixture(autouse=True)
def broker_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_broker()
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    monkeypatch.setattr(module, "KEEPALIVE_S", 1)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.mark.deep
def test_a_state_that_changes_while_the_broker_hangs_is_the_newest_one_afterwards(
    tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    with mosquitto(tmp_path, port, *OPEN) as process, connected(port) as broker:
        with listener(port) as heard:
            broker.publish([MqttMessage(TOPIC, "open")])
            eventually(lambda: heard.last.get(TOPIC) == "open")
        process.send_signal(signal.SIGSTOP)
        for number in range(50):
            broker.publish([MqttMessage(TOPIC, str(number))])
        eventually(lambda: "is lost" in caplog.text)
        broker.publish([MqttMessage(TOPIC, "closed"), MqttMessage("edged/test/later", "sent behind it")])
        process.send_signal(signal.SIGCONT)
        with listener(port) as heard:
            eventually(lambda: heard.last.get("edged/test/later"))
            assert heard.last[TOPIC] == "closed"


def test_a_broker_that_hangs_now_and_then_is_used_at_once_when_it_goes_on(
    tmp_path: Path, port: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LASTING_S", 1)
    caplog.set_level(logging.INFO, "edged.bridge")
    with mosquitto(tmp_path, port, *OPEN) as process, connected(port):
        for times in range(1, 4):
            eventually(lambda times=times: caplog.text.count("connected to") == times)  # type: ignore[misc]
            process.send_signal(signal.SIGSTOP)
            eventually(lambda times=times: caplog.text.count("next attempt") == times)  # type: ignore[misc]
            process.send_signal(signal.SIGCONT)
        eventually(lambda: caplog.text.count("connected to") == 4)
    assert re.findall(r"next attempt in (\d+) s", caplog.text)[:3] == ["1", "1", "1"]
    assert "before it has answered" not in caplog.text


@pytest.mark.deep
def test_a_thousand_cameras_are_all_retained_and_again_by_a_broker_that_forgets_everything(
    tmp_path: Path, port: int
) -> None:
    topics = {f"edged/test/camera-{number}/{what}" for number in range(1000) for what in ("state", "availability")}
    with connected(port) as broker:
        broker.publish([MqttMessage(topic, "online") for topic in topics])
        for _ in range(2):
            with mosquitto(tmp_path, port, *OPEN), listener(port) as heard:
                eventually(lambda heard=heard: topics <= heard.last.keys())  # type: ignore[misc]


def test_what_a_bridge_before_has_left_at_the_broker_is_emptied(tmp_path: Path, port: int) -> None:
    left, kept = "edged/test/gate/snapshot", "edged/test/door/snapshot"
    with mosquitto(tmp_path, port, *OPEN):
        with connected(port) as broker, listener(port) as heard:
            broker.publish([MqttMessage(topic, "picture") for topic in (left, kept)])
            eventually(lambda: {left, kept} <= heard.last.keys())
        with connected(port) as broker:
            broker.publish([MqttMessage(kept, "another")], {kept, WILL.topic})
            with listener(port) as heard:
                eventually(lambda: heard.last.get(kept) == "another" and not heard.last.get(left))
        with listener(port) as heard:
            eventually(lambda: heard.last.get(WILL.topic) == "offline")
            assert left not in heard.last


@pytest.mark.parametrize(
    ("lines", "warning"),
    [
        (lambda folder: acl(folder, "topic read #"), "refuses edged/test/door/state: Not authorized"),
        (lambda _: [*OPEN, "max_packet_size 500"], "it has 1,040 bytes, the broker takes 500: too large"),
    ],
)
def test_what_a_broker_refuses_is_named_once_and_the_connection_lasts(
    tmp_path: Path,
    port: int,
    caplog: pytest.LogCaptureFixture,
    lines: Callable[[Path], list[str]],
    warning: str,
) -> None:
    with mosquitto(tmp_path, port, *lines(tmp_path)), connected(port) as broker:
        for number in range(5):
            broker.publish([MqttMessage(TOPIC, str(number) + "x" * 986)])
        eventually(lambda: warning in caplog.text)
    assert caplog.text.count("refuses") == 1
    assert "is lost" not in caplog.text


def acl(folder: Path, *rules: str) -> list[str]:
    file = folder / "acl"
    file.write_text("\n".join(rules) + "\n")
    file.chmod(0o600)
    return [*OPEN, f"acl_file {file}"]


def test_a_broker_that_ends_each_connection_is_tried_less_and_less(caplog: pytest.LogCaptureFixture) -> None:
    """As some do with a client that publishes what it may not, or whose name another client has."""

    def work(stopped: threading.Event) -> None:
        while not stopped.is_set():
            with suppress(TimeoutError), listening.accept()[0] as connection:
                if connection.recv(1024):
                    connection.sendall(b"\x20\x02\x00\x00")  # CONNACK: accepted

    with socket.create_server(("127.0.0.1", 0)) as listening, caplog.at_level(logging.INFO, "edged.bridge"):
        listening.settimeout(TURN_S)
        port = listening.getsockname()[1]
        with in_background(work), connected(port):
            eventually(lambda: re.search(r"next attempt in [2-9] s", caplog.text))
    lost = [record for record in caplog.records if "is lost" in record.message]
    assert len(lost) == 1, "the same problem is logged once"
