"""A fleet: the real nats-server, an operator, and boards, each a real daemon with its agent."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nkeys
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.cli.command import edged
from tests.cli.models import small_network
from tests.conftest import ROOT
from tests.e2e.daemon import START_S, Daemon, compiled, config_in, run_edged
from tests.eventually import LIMIT_S, eventually, free_port

CALM = {"source": "synthetic:digits", "size": [160, 120], "fps": 20}
GATE = "agreement>=0.98,not_finite=0"  # costs are compared by `tests/fleet`, where nothing else computes
NODES = ("north", "east", "south")


@dataclass
class Fleet:
    """The server, and the folder of the operator with the key that signs."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes]"

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """`edged fleet …` of the operator."""
        return edged("fleet", *arguments, "--config", self.folder / "fleet.yaml")

    def publish(self, model: Path, key: str = "alice") -> None:
        done = self.run("publish", str(model), "--key", str(self.folder / f"{key}.signer.key"))
        assert done.returncode == 0, done.stderr

    def begin(self, model: str, *options: str, gate: str = GATE) -> dict[str, Any]:
        done = self.run("rollout", model, "--gate", gate, "--json", *options)
        assert done.returncode == 0, done.stderr
        rollout: dict[str, Any] = json.loads(done.stdout)
        return rollout

    def nodes(self) -> dict[str, dict[str, Any]]:
        """The report of each node of the present roll-out, by name; of all nodes before the first one."""
        done = self.run("status", "--json")
        if done.returncode:
            return {}
        state = json.loads(done.stdout)
        rollout = state["rollout"]["id"] if state["rollout"] else ""
        return {node["node"]: node for node in state["nodes"] if node["rollout"] == rollout}

    def wait_for(self, **phases: str) -> dict[str, dict[str, Any]]:
        """The reports, once each of these nodes is in that phase."""

        def reached() -> dict[str, dict[str, Any]] | None:
            nodes = self.nodes()
            is_so = all(name in nodes and nodes[name]["phase"] == phase for name, phase in phases.items())
            return nodes if is_so else None

        return eventually(reached, 2 * START_S) or {}


@dataclass
class Board:
    """A daemon, and what its agent needs."""

    daemon: Daemon

    @property
    def folder(self) -> Path:
        return self.daemon.folder

    @property
    def link(self) -> Path:
        return self.folder / "net.onnx"

    def log(self) -> str:
        return (self.folder / "agent.log").read_text()

    @contextmanager
    def agent(self) -> Iterator["subprocess.Popen[bytes]"]:
        """`edged fleet agent` beside the daemon."""
        command = [sys.executable, "-m", "edged", "fleet", "agent", str(self.folder / "edged.yaml")]
        environment = {**os.environ, "XDG_STATE_HOME": str(self.folder), "XDG_CACHE_HOME": str(compiled())}
        with (self.folder / "agent.log").open("a") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a trial, too
            process.wait()
            assert "Traceback" not in self.log(), self.log()


@contextmanager
def fleet_server(folder: Path, boards: tuple[str, ...] = NODES) -> Iterator[Fleet]:
    """nats-server with the config of deploy/nats, with a key for each board."""
    if shutil.which("nats-server") is None:
        pytest.skip("nats-server is not installed")
    port = free_port()
    text = f"listen: 127.0.0.1:{port}\n" + (ROOT / "deploy/nats/models.conf").read_text()
    text = text.replace(
        "max_file_store: 20G", f"max_file_store: 1G, store_dir: {json.dumps(str(folder / 'store'))}"
    )
    start = text.index("    # The board NODE")
    user, end = re.match(r"(.*?\n    \}\n)(.*)", text[start:], re.DOTALL).groups()  # type: ignore[union-attr]
    users = [user.replace("NODE", name).replace("BOARD", new_nkey(folder / f"{name}.nkey")) for name in boards]
    text = text[:start].replace("OPERATOR", new_nkey(folder / "operator.nkey")) + "".join(users) + end
    (folder / "server.conf").write_text(text)
    server = {"servers": [f"nats://127.0.0.1:{port}"], "nkey": "operator.nkey"}
    (folder / "fleet.yaml").write_text(json.dumps({"nats": server}))
    for name in ("alice", "mallory"):
        assert edged("fleet", "key", name, "--output", folder).returncode == 0
    with started(folder, port) as process:
        yield Fleet(folder, port, process)


@contextmanager
def started(folder: Path, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "server.log").open("a") as log:
        process = subprocess.Popen(["nats-server", "-c", folder / "server.conf"], stdout=log, stderr=log)
    try:
        eventually(lambda: _accepts(port))
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def board(fleet: Fleet, name: str, *, is_odd: bool = False, **sections: Any) -> Iterator[Board]:
    """A daemon whose model is a link, with a small network. `is_odd`: with one that answers otherwise."""
    folder = fleet.folder / name
    folder.mkdir()
    first = folder / "first.onnx"
    (folder / "net.onnx").symlink_to((variation(first, amount=3.0) if is_odd else small_network(first)).name)
    config = config_in(folder, node=name, cameras={"demo": CALM}, model={"path": "net.onnx"})
    config |= {
        "nats": {"servers": [f"nats://127.0.0.1:{fleet.port}"], "nkey": f"../{name}.nkey"},
        "fleet": {"signers": ["../alice.signer.pub"], "frames": 20, "watch_s": 2},
        **sections,
    }
    with run_edged(folder, config=config) as daemon:
        yield Board(daemon)


def variation(path: Path, amount: float = 0.0, seed: int = 1) -> Path:
    """The small network with weights changed by this share of them, or by so little that it answers alike."""
    model = onnx.load(str(small_network(path)))
    random = np.random.default_rng(seed)
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        changed = values * (1 + (amount or 1e-6) * random.standard_normal(values.shape))
        tensor.CopyFrom(numpy_helper.from_array(changed.astype(np.float32), tensor.name))
    onnx.save(model, str(path))
    return path


def new_nkey(path: Path) -> str:
    """Write the seed of a user's key; return the public half."""
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    path.touch(0o600)
    path.write_bytes(seed)
    return str(nkeys.from_seed(bytearray(seed)).public_key.decode())


def _accepts(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S):
        return True
    return False
