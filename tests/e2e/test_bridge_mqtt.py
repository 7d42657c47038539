"""`edged bridge mqtt` between the real daemon and a real broker."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import edged
from tests.e2e.broker import bridge, has_broker, listener, mosquitto
from tests.e2e.certificates import new_authority, new_certificate
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, run_edged
from tests.eventually import LIMIT_S, eventually, free_port
from tests.model.detectors import detector_file

OPEN = ("allow_anonymous true",)
NODE, CAMERA = "edged/test/availability", "edged/test/demo"


@pytest.fixture(autouse=True)
def broker_is_installed() -> None:
    has_broker()


@pytest.fixture
def port() -> int:
    return free_port()


def sections(port: int, **mqtt: Any) -> dict[str, Any]:
    """The camera has snapshots, and any answer is a state."""
    labels = [str(number) for number in range(5)]
    return {
        "cameras": {"demo": SYNTHETIC | {"snapshot": {}}},
        "states": {"demo": {"labels": labels, "after": 2, "unknown_below": 0.0}},
        "mqtt": {"address": f"mqtt://127.0.0.1:{port}", **mqtt},
    }


@pytest.fixture
def daemon(tmp_path: Path, port: int) -> Iterator[Daemon]:
    with run_edged(tmp_path, config=config_in(tmp_path, **sections(port))) as daemon:
        yield daemon


def test_states_predictions_and_pictures_arrive_and_a_stop_is_offline(
    tmp_path: Path, port: int, daemon: Daemon
) -> None:
    with mosquitto(tmp_path, port, *OPEN), listener(port) as heard:
        with bridge(tmp_path / "edged.yaml", tmp_path) as process:
            topics = [
                NODE,
                f"{CAMERA}/state",
                f"{CAMERA}/prediction",
                f"{CAMERA}/snapshot",
                f"{CAMERA}/statistics",
            ]
            eventually(lambda: set(topics) <= heard.last.keys())
            assert heard.last[NODE] == "online"
            assert heard.last[f"{CAMERA}/state"] in {*"01234"}
            assert json.loads(heard.last[f"{CAMERA}/prediction"])["score"] > 0
            assert "homeassistant/camera/edged_test/demo_snapshot/config" in heard.last
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT_S) == 0
        eventually(lambda: heard.last[NODE] == "offline")


def test_what_a_detector_finds_in_zones_is_retained(tmp_path: Path, port: int) -> None:
    zones = {"all": [[0, 0], [1, 0], [1, 1], [0, 1]], "corner": [[0, 0], [0.01, 0], [0, 0.01]]}
    door = {
        "zones": zones,
        "present": {name: {"labels": ["cat", "dog", "cow"], "zone": name} for name in zones},
        "count": {"animals": {"labels": ["cat", "dog", "cow"]}},
    }
    (tmp_path / "labels.txt").write_text("cat\ndog\ncow\n")
    model = {"path": str(detector_file(tmp_path / "net.onnx", "yolox")), "labels": str(tmp_path / "labels.txt")}
    settings = config_in(
        tmp_path,
        cameras={"demo": SYNTHETIC},
        model={**model, "threshold": 0.3},
        states={"demo": door},
        mqtt={"address": f"mqtt://127.0.0.1:{port}"},
    )
    states = {f"{CAMERA}/state/{name}" for name in ("all", "corner", "animals")}
    entity_topic = "homeassistant/binary_sensor/edged_test/demo_state_all/config"
    with run_edged(tmp_path, config=settings), mosquitto(tmp_path, port, *OPEN):
        with bridge(tmp_path / "edged.yaml", tmp_path), listener(port) as first:
            eventually(lambda: states | {entity_topic} <= first.last.keys())
        with listener(port) as later:
            eventually(lambda: states | {NODE, entity_topic} <= later.last.keys())
    assert later.last[f"{CAMERA}/state/all"] == "present"
    assert later.last[f"{CAMERA}/state/corner"] == "absent"
    assert int(later.last[f"{CAMERA}/state/animals"]) > 0
    entity = json.loads(later.last[entity_topic])
    assert (entity["state_topic"], entity["payload_on"]) == (f"{CAMERA}/state/all", "present")


@pytest.mark.deep
def test_a_bridge_that_is_killed_and_a_daemon_that_ends_are_offline(
    tmp_path: Path, port: int, daemon: Daemon
) -> None:
    with mosquitto(tmp_path, port, *OPEN), listener(port) as heard:
        with bridge(tmp_path / "edged.yaml", tmp_path) as process:
            eventually(lambda: heard.last.get(NODE) == "online")
            process.kill()
            eventually(lambda: heard.last[NODE] == "offline")  # the broker says so, in its place
        with bridge(tmp_path / "edged.yaml", tmp_path):
            eventually(lambda: heard.last[NODE] == "online")
            daemon.stop()
            eventually(lambda: heard.last[NODE] == "offline")


@pytest.mark.deep
def test_a_broker_that_starts_late_and_again_gets_everything(tmp_path: Path, port: int, daemon: Daemon) -> None:
    with bridge(tmp_path / "edged.yaml", tmp_path):
        eventually(lambda: "does not answer; trying again" in (tmp_path / "bridge.log").read_text())
        for _ in range(2):  # it keeps nothing from one start to the next
            with mosquitto(tmp_path, port, *OPEN), listener(port) as heard:
                eventually(lambda heard=heard: {NODE, f"{CAMERA}/state"} <= heard.last.keys())  # type: ignore[misc]
                assert any(topic.startswith("homeassistant/") for topic in heard.last)


@pytest.mark.deep
def test_its_log_has_the_format_of_the_config_and_the_level_of_the_environment(
    tmp_path: Path, port: int, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text(json.dumps(daemon.config | {"log": {"format": "json"}}))

    def logged() -> list[tuple[str, str]]:
        lines = [line for line in (tmp_path / "bridge.log").read_text().splitlines() if line.startswith("{")]
        return [(each["level"], each["message"]) for each in map(json.loads, lines)]

    with bridge(config, tmp_path):
        eventually(lambda: any(level == "warning" for level, _ in logged()))
        with mosquitto(tmp_path, port, *OPEN):
            eventually(lambda: ("info", f"connected to mqtt://127.0.0.1:{port}") in logged())
    (tmp_path / "bridge.log").unlink()
    monkeypatch.setenv("EDGED_LOG_LEVEL", "warning")
    with bridge(config, tmp_path), mosquitto(tmp_path, port, *OPEN), listener(port) as heard:
        eventually(lambda: heard.last.get(NODE) == "online")
    assert "info" not in {level for level, _ in logged()}


def test_tls_and_a_password_and_the_wrong_ones(tmp_path: Path, port: int) -> None:
    new_authority(tmp_path, "authority")
    new_certificate(tmp_path, "broker", "authority")
    (tmp_path / "password").write_text("secret\n")
    passwords = tmp_path / "passwords"
    passwords.touch(0o600)
    subprocess.run(["mosquitto_passwd", "-b", passwords, "edged", "secret"], check=True)
    tls = [f"cafile {tmp_path}/authority.crt", f"certfile {tmp_path}/broker.crt", f"keyfile {tmp_path}/broker.key"]
    right = {"address": f"mqtts://127.0.0.1:{port}", "user": "edged", "password_file": "password"}
    trusted = right | {"ca": "authority.crt"}
    file = tmp_path / "bridge.yaml"
    log = tmp_path / "bridge.log"
    with mosquitto(tmp_path, port, f"password_file {passwords}", *tls):
        for mqtt, expected in (
            (right, "does not answer, or its certificate is not trusted"),
            (trusted | {"user": "nobody"}, "rejects the connection: Not authorized"),
            (trusted, f"connected to mqtts://127.0.0.1:{port}"),
        ):
            file.write_text(json.dumps(config_in(tmp_path) | {"mqtt": mqtt}))
            with bridge(file, tmp_path):
                eventually(lambda expected=expected: expected in log.read_text())  # type: ignore[misc]
    assert "secret" not in log.read_text()


def test_a_broker_that_requires_a_certificate_gets_it(tmp_path: Path, port: int) -> None:
    new_authority(tmp_path, "authority")
    for name in ("broker", "bridge"):
        new_certificate(tmp_path, name, "authority")
    tls = [f"cafile {tmp_path}/authority.crt", f"certfile {tmp_path}/broker.crt", f"keyfile {tmp_path}/broker.key"]
    mqtt = {"address": f"mqtts://127.0.0.1:{port}", "ca": "authority.crt"}
    own = {"certificate": "bridge.crt", "key": "bridge.key"}
    log = tmp_path / "bridge.log"
    with mosquitto(tmp_path, port, *OPEN, "require_certificate true", *tls):
        for fields, expected in ((mqtt, "; trying again"), (mqtt | own, f"connected to mqtts://127.0.0.1:{port}")):
            (tmp_path / "bridge.yaml").write_text(json.dumps(config_in(tmp_path) | {"mqtt": fields}))
            with bridge(tmp_path / "bridge.yaml", tmp_path):
                eventually(lambda expected=expected: expected in log.read_text())  # type: ignore[misc]


@pytest.mark.parametrize(
    ("mqtt", "message"),
    [
        ({"address": "mqtts://127.0.0.1", "certificate": "c.crt"}, "certificate and key require each other"),
        (None, "section mqtt is missing: expected `mqtt: {address: mqtt://HOST}`"),
        ({"address": "mqtts://127.0.0.1", "ca": "nowhere.pem"}, "nowhere.pem: cannot read"),
        ({"address": "mqtt://127.0.0.1", "user": "a", "password_file": "nowhere"}, "nowhere"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, mqtt: dict[str, str] | None, message: str) -> None:
    file = tmp_path / "edged.yaml"
    file.write_text(json.dumps(config_in(tmp_path) | ({"mqtt": mqtt} if mqtt else {})))
    done = edged("bridge", "mqtt", file)
    assert done.returncode == 2
    assert message in done.stderr
