"""A roll-out over boards, with the real nats-server, daemons and agents."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path

import psutil
import pytest
from nats.js import JetStreamContext

from tests.e2e.daemon import START_S
from tests.e2e.fleet import GATE, NODES, Board, Fleet, board, fleet_server, new_nkey, started, variation
from tests.e2e.fleet_intruder import exchange_model_while_fetching, with_the_operators_nkey
from tests.eventually import eventually


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with fleet_server(tmp_path) as fleet:
        yield fleet


def answers(board: Board) -> str:
    """The hash of the model that answers."""
    return board.daemon.first(1)[0].model.sha256


@pytest.mark.deep
def test_a_model_is_tried_promoted_and_taken_back(tmp_path: Path, fleet: Fleet) -> None:
    fleet.publish(variation(tmp_path / "doors-2.onnx"))
    with board(fleet, "north") as north, north.agent():
        eventually(lambda: "north" in fleet.nodes())
        before = answers(north)
        rollout = fleet.begin("doors-2")
        report = fleet.wait_for(north="promoted")["north"]
        assert answers(north) == rollout["model"]["sha256"] == report["sha256"]
        assert report["trial"]["after"]["frames"] >= 20
        assert report["trial"]["agreement"] == 1
        first = report["first_seq"]
        by_seq = {each.seq: each.model.sha256 for each in north.daemon.first(first + 2, since_s=3600)}
        assert (by_seq[first - 1], by_seq[first]) == (before, report["sha256"])
        assert fleet.run("rollback").returncode == 0
        fleet.wait_for(north="rolled_back")
        assert answers(north) == before
        assert os.readlink(north.link) == "first.onnx"


@pytest.mark.deep
def test_a_model_of_another_signer_is_refused_and_so_is_one_that_was_changed_in_the_store(
    tmp_path: Path, fleet: Fleet
) -> None:
    with board(fleet, "north") as north, north.agent():
        fleet.publish(variation(tmp_path / "foreign.onnx"), key="mallory")
        eventually(lambda: "north" in fleet.nodes())
        fleet.begin("foreign")
        report = fleet.wait_for(north="refused")["north"]
        assert "which is not in fleet.signers of this board" in report["message"]
        fleet.publish(variation(tmp_path / "doors-2.onnx"))
        exchange_content(fleet, variation(tmp_path / "other.onnx", seed=2).read_bytes())
        fleet.begin("doors-2")
        report = fleet.wait_for(north="refused")["north"]
        assert "the file in the store is damaged" in report["message"]
        assert os.readlink(north.link) == "first.onnx"


@contextmanager
def suspended(process: psutil.Process) -> Iterator[None]:
    """The process stands still until the block ends."""
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def exchange_content(fleet: Fleet, content: bytes) -> None:
    """Replace the file of `doors-2` in the object store."""

    async def exchange(stream: JetStreamContext) -> None:
        entry = await (await stream.key_value("edged_fleet")).get("model.doors-2")
        store = await stream.object_store("edged_models")
        await store.put(json.loads(entry.value or b"")["sha256"], content)

    with_the_operators_nkey(fleet, exchange)


@pytest.mark.deep
def test_a_model_that_is_exchanged_in_the_record_of_a_roll_out_is_never_fetched(
    tmp_path: Path, fleet: Fleet
) -> None:
    fleet.publish(variation(tmp_path / "doors-2.onnx"))
    other = variation(tmp_path / "other.onnx", seed=2).read_bytes()
    with board(fleet, "north") as north, north.agent():
        eventually(lambda: "north" in fleet.nodes())
        before = answers(north)
        fleet.begin("doors-2")
        exchange_model_while_fetching(fleet, other)
        report = fleet.wait_for(north="cancelled")["north"]
        assert "the record of the roll-out was changed under its id" in report["message"]
        assert "was changed after this board had read it" in north.log()
        assert not list(north.folder.rglob(sha256(other).hexdigest()))
        assert (answers(north), os.readlink(north.link)) == (before, "first.onnx")


@pytest.mark.deep
def test_a_gate_that_cannot_be_evaluated_names_its_metric(tmp_path: Path, fleet: Fleet) -> None:
    fleet.publish(variation(tmp_path / "doors-2.onnx"))
    with board(fleet, "north", energy={"rails": "none"}) as north, north.agent():
        eventually(lambda: "north" in fleet.nodes())
        done = fleet.run("rollout", "doors-2", "--gate", "p98<=2x")
        assert (done.returncode, "there is no metric p98" in done.stderr) == (2, True)
        fleet.begin("doors-2", gate=f"{GATE},joules<=2x")
        report = fleet.wait_for(north="refused")["north"]
        assert "joules cannot be evaluated: switched off by energy.rails: none" in report["message"]


@pytest.mark.deep
def test_of_three_nodes_one_fails_its_gate_and_the_others_promote(tmp_path: Path, fleet: Fleet) -> None:
    fleet.publish(variation(tmp_path / "doors-2.onnx"))
    with ExitStack() as resources:
        boards = {name: board(fleet, name, is_odd=name == "south") for name in NODES}
        running = {name: resources.enter_context(each) for name, each in boards.items()}
        for each in running.values():
            resources.enter_context(each.agent())
        eventually(lambda: len(fleet.nodes()) == len(NODES))
        rollout = fleet.begin("doors-2")
        reports = fleet.wait_for(north="promoted", east="promoted", south="refused")
        assert "the gate fails in shadow: agreement" in reports["south"]["message"]
        new = rollout["model"]["sha256"]
        assert {name: answers(each) == new for name, each in running.items()} == {
            "north": True,
            "east": True,
            "south": False,
        }


@pytest.mark.deep
def test_the_second_stage_follows_the_first_and_stops_where_that_failed(tmp_path: Path, fleet: Fleet) -> None:
    fleet.publish(variation(tmp_path / "doors-2.onnx"))
    fleet.publish(variation(tmp_path / "bad.onnx", amount=3.0))
    with board(fleet, "north") as north, board(fleet, "east") as east, north.agent(), east.agent():
        eventually(lambda: len(fleet.nodes()) == 2)
        fleet.begin("doors-2", "--to", "10%", "--then", "100%")
        fleet.wait_for(north="promoted", east="promoted")
        rollout = fleet.begin("bad", "--to", "10%", "--then", "100%")
        first, second = (stage["nodes"][0] for stage in rollout["stages"])
        reports = fleet.wait_for(**{first: "refused", second: "waiting"})
        eventually(lambda: "has failed" in fleet.nodes()[second]["message"])
        assert reports[second]["sha256"] != rollout["model"]["sha256"]


@pytest.mark.deep
def test_a_node_that_was_off_and_one_whose_agent_was_killed_catch_up(tmp_path: Path, fleet: Fleet) -> None:
    fleet.publish(variation(tmp_path / "doors-2.onnx"))
    with board(fleet, "north") as north:
        with north.agent():
            eventually(lambda: "north" in fleet.nodes())
        rollout = fleet.begin("doors-2")  # while its agent is off
        for phase in ("trial", "watching"):
            kill_agent_in(phase, north)
        with north.agent():
            fleet.wait_for(north="promoted")
            assert answers(north) == rollout["model"]["sha256"]
        assert fleet.run("rollback").returncode == 0  # while its agent is off
        with north.agent():
            fleet.wait_for(north="rolled_back")


def kill_agent_in(phase: str, board: Board) -> None:
    """Start the agent, and kill it in this phase: its log keeps one that lasts for a moment, a report does not."""
    with board.agent() as process:
        eventually(lambda: f"), {phase}" in board.log(), 2 * START_S)
        process.kill()


@pytest.mark.deep
def test_a_pause_holds_the_promotion_and_a_server_that_is_away_holds_nothing_up_for_good(
    tmp_path: Path, fleet: Fleet
) -> None:
    fleet.publish(variation(tmp_path / "doors-2.onnx"))
    with board(fleet, "north") as north, north.agent() as agent:
        eventually(lambda: "north" in fleet.nodes())
        before = answers(north)
        fleet.begin("doors-2")
        with suspended(eventually(psutil.Process(agent.pid).children, 2 * START_S)[0]):  # its trial
            assert fleet.run("pause").returncode == 0
        eventually(lambda: "paused" in fleet.nodes()["north"]["message"])
        assert answers(north) == before
        fleet.process.kill()
        fleet.process.wait()
        assert answers(north) == before
        with started(fleet.folder, fleet.port):
            assert fleet.run("resume").returncode == 0
            fleet.wait_for(north="promoted")


@pytest.mark.deep
def test_a_model_that_answers_with_nan_never_answers(tmp_path: Path, fleet: Fleet) -> None:
    fleet.publish(variation(tmp_path / "nan.onnx", amount=1e30))
    with board(fleet, "north") as north, north.agent():
        eventually(lambda: "north" in fleet.nodes())
        before = answers(north)
        fleet.begin("nan", gate="not_finite=0")
        assert "not_finite" in fleet.wait_for(north="refused")["north"]["message"]
        assert answers(north) == before


@pytest.mark.deep
def test_a_board_may_neither_publish_nor_order_and_without_a_key_nothing_is_reached(
    tmp_path: Path, fleet: Fleet
) -> None:
    model = variation(tmp_path / "doors-2.onnx")
    fleet.publish(model)
    servers = [f"nats://127.0.0.1:{fleet.port}"]
    file, key = fleet.folder / "fleet.yaml", str(fleet.folder / "alice.signer.key")
    file.write_text(json.dumps({"nats": {"servers": servers, "nkey": "north.nkey"}}))
    assert fleet.run("status").returncode == 0
    assert fleet.run("publish", str(model), "--key", key, "--name", "other").returncode == 1
    assert fleet.run("rollout", "doors-2", "--gate", GATE).returncode != 0
    new_nkey(fleet.folder / "stranger.nkey")
    for access in ({}, {"nkey": "stranger.nkey"}):
        file.write_text(json.dumps({"nats": {"servers": servers, **access}}))
        done = fleet.run("status")
        assert (done.returncode, "rejects this user" in done.stderr) == (1, True)
    file.write_text(json.dumps({"nats": {"servers": servers, "nkey": "operator.nkey"}}))
    assert json.loads(fleet.run("status", "--json").stdout)["rollout"] is None
