"""The configs in deploy/nats, with the real nats-server and a bridge that goes through a leaf."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.fleet import bridge, config_file
from tests.cli.command import edged
from tests.client.hub_end import Addresses, a_hub
from tests.conftest import ROOT
from tests.e2e.certificates import new_authority, new_certificate
from tests.eventually import eventually, free_port
from tests.nats_server import PROGRAM, has_nats_server

PASSWORDS = {
    "DOOR_PASSWORD": "d00r",
    "LEAF_PASSWORD": "l3af",
    "READER_PASSWORD": "r3ader",
    "OPERATOR_PASSWORD": "0perator",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The configs with certificates, on free ports; the node of the hub is `test`, not `door`."""
    has_nats_server()
    new_authority(tmp_path, "fleet-ca")
    new_certificate(tmp_path, "fleet", "fleet-ca")
    for file in (ROOT / "deploy" / "nats").glob("*.conf"):
        shutil.copy(file, tmp_path)
    accounts = tmp_path / "accounts.conf"
    accounts.write_text(accounts.read_text().replace("edged.door.", "edged.test."))
    return tmp_path


@contextmanager
def server(folder: Path, name: str, ports: dict[str, int], **environment: str) -> Iterator[Path]:
    """Run a config of deploy/nats, with other ports; yields its log."""
    assert PROGRAM
    text = (folder / f"{name}.conf").read_text()
    for usual, port in ports.items():
        text = text.replace(usual, f"127.0.0.1:{port}")
    (folder / f"{name}.conf").write_text(text)
    log = folder / f"{name}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [PROGRAM, "-c", f"{name}.conf"],
            cwd=folder,
            env={**os.environ, **PASSWORDS, **environment},
            stdout=output,
            stderr=output,
        )
    try:
        eventually(lambda: "Server is ready" in log.read_text() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield log
    finally:
        process.kill()
        process.wait()


def password(folder: Path, text: str) -> Path:
    path = folder / "password"
    path.write_text(text)
    path.chmod(0o600)
    return path


def carries(folder: Path, port: int, **nats: Any) -> None:
    """Check that a bridge delivers what a hub publishes."""
    where = Addresses()
    with a_hub(folder, where) as hub, bridge(config_file(folder, where, port, **nats)) as carrying:
        hub.publish(20)
        eventually(lambda: hub.serve() and carrying.carried == 19)


def test_a_board_connects_directly(folder: Path) -> None:
    port = free_port()
    with server(folder, "fleet", {"0.0.0.0:4222": port, "0.0.0.0:7422": free_port()}):
        carries(
            folder,
            port,
            servers=[f"tls://127.0.0.1:{port}"],
            tls={"ca": "fleet-ca.crt"},
            domain="fleet",
            user="door",
            password_file=str(password(folder, "d00r")),
        )


def test_a_command_over_tls_logs_nothing_but_its_own_error(folder: Path) -> None:
    port = free_port()
    secret = password(folder, PASSWORDS["READER_PASSWORD"])
    nats = {"servers": [f"tls://127.0.0.1:{port}"], "user": "reader", "password_file": str(secret)}
    (folder / "fleet.yaml").write_text(json.dumps({"nats": {**nats, "tls": {"ca": "fleet-ca.crt"}}}))
    with server(folder, "fleet", {"0.0.0.0:4222": port, "0.0.0.0:7422": free_port()}):
        done = edged("fleet", "status", "--config", folder / "fleet.yaml")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr


def test_the_server_reads_every_password_that_the_docs_make(folder: Path) -> None:
    line = next(each for each in (folder / "accounts.conf").read_text().splitlines() if "openssl" in each)
    command = line.strip("# ").partition("#")[0].strip()
    assert command.removeprefix("echo ") in (ROOT / "docs/how-to/fleet-nats.md").read_text()
    looks_like_a_number = f"openssl() {{ echo 4e{'1' * 62}; }}; {command}"
    made = subprocess.run(["bash", "-c", looks_like_a_number], capture_output=True, text=True, check=True).stdout
    ports = {"0.0.0.0:4222": free_port(), "0.0.0.0:7422": free_port()}
    with server(folder, "fleet", ports, DOOR_PASSWORD=made.strip()) as log:
        assert "Server is ready" in log.read_text()


def test_a_board_connects_through_its_leaf(folder: Path) -> None:
    leaves, here = free_port(), free_port()
    remote = f"tls://leaf:l3af@127.0.0.1:{leaves}"
    with (
        server(folder, "fleet", {"0.0.0.0:4222": free_port(), "0.0.0.0:7422": leaves}),
        server(folder, "board", {"127.0.0.1:4222": here}, BOARD="door", FLEET_URL=json.dumps(remote)) as log,
    ):
        eventually(lambda: "Leafnode connection created" in log.read_text())
        carries(folder, here, domain="fleet")
