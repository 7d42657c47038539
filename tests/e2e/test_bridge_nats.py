"""`edged bridge nats` between a real hub and the real nats-server."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.fleet import (
    Stream,
    a_busy_hub,
    bridge,
    carries_on,
    config_file,
    delivered_once,
)
from tests.cli.command import edged
from tests.client.hub_end import Addresses, a_hub
from tests.e2e.daemon import SYNTHETIC, config_in, run_edged
from tests.eventually import eventually, free_port
from tests.nats_server import has_nats_server, nats_server

PREDICTIONS = "edged.*.*.prediction"


@pytest.fixture
def port() -> int:
    has_nats_server()
    return free_port()


@pytest.fixture
def where() -> Addresses:
    return Addresses()


@pytest.mark.deep
def test_predictions_from_before_and_after_its_start_arrive(tmp_path: Path, port: int, where: Addresses) -> None:
    stream = Stream(port)
    with nats_server(tmp_path, port), a_hub(tmp_path, where) as hub:
        hub.publish(50)
        with bridge(config_file(tmp_path, where, port)) as carrying:
            eventually(lambda: hub.serve() and carrying.carried == 49)
            hub.publish(3)
            eventually(lambda: hub.serve() and carrying.carried == 52)
            assert carrying.stop() == 0
        assert stream.numbers() == [*range(53)]
        found = json.loads(stream.payloads("edged.test.door.prediction")[-1])
        assert (found["node"], found["seq"], found["top"][0]["label"]) == ("test", 52, "yes")
        boot = found["boot"]
        assert stream.identities(PREDICTIONS)[f"test/{boot}/52"] == 1


@pytest.mark.deep
def test_a_killed_server_and_a_killed_bridge_repeat_and_lose_nothing(
    tmp_path: Path, port: int, where: Addresses
) -> None:
    config = config_file(tmp_path, where, port)
    with nats_server(tmp_path, port) as server, a_busy_hub(tmp_path, where) as busy, bridge(config) as carrying:
        carries_on(carrying)
        server.kill()
        server.start()
        carries_on(carrying)
        carrying.stop(signal.SIGKILL)
        carrying.start()
        carries_on(carrying)
        busy.quiet()
        assert delivered_once(tmp_path, carrying, Stream(port)) > 100


@pytest.mark.deep
def test_without_its_file_the_place_is_read_in_the_stream(tmp_path: Path, port: int, where: Addresses) -> None:
    stream = Stream(port)
    with nats_server(tmp_path, port), a_hub(tmp_path, where) as hub:
        hub.publish(300)
        with bridge(config_file(tmp_path, where, port)) as carrying:
            eventually(lambda: hub.serve() and carrying.carried == 299)
            carrying.stop(signal.SIGKILL)
            place = tmp_path / "edged" / "test" / "nats-place.json"
            place.unlink()
            hub.publish(10)
            carrying.start()
            eventually(lambda: hub.serve() and carrying.carried == 309)
        assert stream.numbers() == [*range(310)]


@pytest.mark.deep
def test_a_server_that_was_away_gets_what_the_journal_holds_and_one_gap(
    tmp_path: Path, port: int, where: Addresses
) -> None:
    stream = Stream(port)
    config = config_file(tmp_path, where, port)
    with nats_server(tmp_path, port) as server, a_hub(tmp_path, where) as hub, bridge(config) as carrying:
        hub.publish(10)
        eventually(lambda: hub.serve() and carrying.carried == 9)
        server.kill()
        hub.publish(20, kept=False, sent=False)
        hub.publish(5)
        server.start()
        eventually(lambda: hub.serve() and carrying.carried == 34)
        assert stream.numbers() == [*range(10), *range(30, 35)]
        (gap,) = map(json.loads, stream.payloads("edged.test.gap"))
        assert {key: gap[key] for key in ("node", "first", "last", "lost")} == {
            "node": "test", "first": 10, "last": 29, "lost": 20,
        }  # fmt: skip


@pytest.mark.deep
def test_a_stream_that_is_full_takes_the_rest_once_there_is_room(
    tmp_path: Path, port: int, where: Addresses
) -> None:
    stream = Stream(port)
    kept: dict[str, Any] = {"subjects": ["edged.>"], "discard": "new"}
    with nats_server(tmp_path, port), a_hub(tmp_path, where) as hub:
        stream.add(max_msgs=100, **kept)
        hub.publish(200)
        with bridge(config_file(tmp_path, where, port)) as carrying:
            full = "does not take this message (maximum messages exceeded): raise its limits, or make room"
            log = carrying.log.read_text
            eventually(lambda: hub.serve() and carrying.reports(full))
            eventually(lambda: hub.serve() and re.search(r"next attempt in [2-9]\.", log()))
            assert log().count(full) == 1, "the same problem is logged once"
            stream.add(max_msgs=10_000, **kept)
            eventually(lambda: hub.serve() and carrying.carried == 199)
        assert sorted(stream.numbers()) == [*range(200)]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("EDGED", {"retention": "workqueue"}, "stream EDGED has the retention workqueue: expected limits"),
        ("EDGED", {"duplicate_window": 5}, "stream EDGED knows duplicates for 5 s only: set duplicate_window"),
        ("OTHER", {}, "its subjects are those of another stream: choose another nats.subject"),
    ],
)
def test_a_stream_that_does_not_fit_is_named(
    tmp_path: Path, port: int, where: Addresses, name: str, fields: dict[str, Any], message: str
) -> None:
    with nats_server(tmp_path, port):
        Stream(port, name).add(subjects=["edged.>"], **fields)
        with bridge(config_file(tmp_path, where, port)) as carrying:
            eventually(lambda: carrying.reports(f"{message}"))
            eventually(lambda: carrying.reports("trying again"))


@pytest.mark.deep
def test_what_a_user_may_not_publish_is_named_once(tmp_path: Path, port: int, where: Addresses) -> None:
    publish = '["_INBOX.>", "$JS.API.>"]'
    users = f'users: [{{user: me, password: secret, permissions: {{publish: {publish}, subscribe: [">"]}}}}]'
    password = tmp_path / "password"
    password.write_text("secret")
    password.chmod(0o600)
    access = {"user": "me", "password_file": str(password)}
    with nats_server(tmp_path, port, f"authorization {{ {users} }}"), a_hub(tmp_path, where) as hub:
        hub.publish(3)
        with bridge(config_file(tmp_path, where, port, **access)) as carrying:
            eventually(lambda: hub.serve() and carrying.reports("extend its permissions"))
            eventually(lambda: hub.serve() and carrying.log.read_text().count("next attempt") >= 2)
            said = carrying.log.read_text()
    assert 'this user may not publish all of edged.> (permissions violation for publish to "edged.test.' in said
    assert said.count("extend its permissions") == 1


def test_an_account_that_may_not_store_the_stream_names_the_key_of_its_size(
    tmp_path: Path, port: int, where: Addresses
) -> None:
    small = f'jetstream {{ store_dir: "{tmp_path}/small", max_file: 100MB }}'
    with (
        nats_server(tmp_path, port, small, jetstream=False),
        bridge(config_file(tmp_path, where, port)) as carrying,
    ):
        eventually(lambda: carrying.reports("set nats.max_megabytes to less"))


def test_statuses_events_and_pictures_of_a_real_daemon_arrive(tmp_path: Path, port: int) -> None:
    nats = {"servers": [f"nats://127.0.0.1:{port}"], "snapshots": True}
    labels = [str(number) for number in range(10)]
    config = config_in(
        tmp_path,
        node="a.board",
        cameras={"demo": SYNTHETIC | {"snapshot": {}}},
        states={"demo": {"labels": labels, "after": 1, "unknown_below": 0.0}},
        nats=nats,
    )
    stream, latest = Stream(port), Stream(port, "EDGED_LATEST")
    with nats_server(tmp_path, port), run_edged(tmp_path, config=config), bridge(tmp_path / "edged.yaml"):
        node = "edged.a%2Eboard"
        eventually(lambda: stream.is_there() and latest.is_there())
        eventually(lambda: stream.payloads(f"{node}.demo.prediction"))
        eventually(lambda: stream.payloads(f"{node}.demo.event"))
        (status,) = eventually(lambda: latest.payloads(f"{node}.status"))
        assert json.loads(status)["node"] == "a.board"
        (picture,) = eventually(lambda: latest.payloads(f"{node}.demo.snapshot"))
        assert picture.startswith(b"\xff\xd8")


def test_a_config_without_the_section_is_named(tmp_path: Path) -> None:
    (tmp_path / "edged.yaml").write_text(json.dumps(config_in(tmp_path)))
    done = edged("bridge", "nats", tmp_path / "edged.yaml")
    assert done.returncode == 2
    assert "section nats is missing: expected `nats: {servers: ['tls://HOST']}`" in done.stderr
