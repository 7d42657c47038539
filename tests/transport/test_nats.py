"""Connections to the real nats-server, and what is wrong where there is none."""

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

import nkeys
import pytest

from edged.config import NatsConfig
from edged.errors import ConfigError, EdgedError, ServerError
from edged.transport.nats import connect
from tests.e2e.certificates import new_authority, new_certificate
from tests.eventually import LIMIT_S, free_port
from tests.nats_server import NatsServer, has_nats_server, nats_server


def config(port: int, scheme: str = "nats", **fields: Any) -> NatsConfig:
    return NatsConfig.model_validate({"servers": (f"{scheme}://127.0.0.1:{port}",), **fields})


def problem_of(nats: NatsConfig) -> str:
    """What `connect` reports."""
    with pytest.raises(EdgedError) as raised:
        asyncio.run(connected_to(nats))
    return str(raised.value)


async def connected_to(nats: NatsConfig) -> str:
    """Connect and disconnect; returns the id of the server."""
    client = await connect(nats, "test")
    await client.close()
    return str(client.connected_url)


@pytest.fixture
def port() -> int:
    has_nats_server()
    return free_port()


def secret(folder: Path, name: str, text: str, mode: int = 0o600) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def new_nkey() -> tuple[str, str]:
    """The seed of a new user, and its public key."""
    pair = nkeys.from_seed(nkeys.encode_seed(bytes(range(32)), nkeys.PREFIX_BYTE_USER))
    return pair.seed.decode(), pair.public_key.decode()


def test_a_server_that_is_started_again_gets_what_is_published_then(tmp_path: Path, port: int) -> None:
    async def published_twice(server: NatsServer) -> list[bytes]:
        client = await connect(config(port), "test")
        stream = client.jetstream()
        await stream.add_stream(name="S", subjects=["s"])
        await stream.publish("s", b"before")
        server.kill()
        while client.is_connected:
            await asyncio.sleep(0.01)
        server.start()
        while not client.is_connected:
            await asyncio.sleep(0.01)
        await stream.publish("s", b"after", timeout=LIMIT_S)
        found = [(await stream.get_msg("S", seq=seq)).data or b"" for seq in (1, 2)]
        await client.close()
        return found

    with nats_server(tmp_path, port) as server:
        assert asyncio.run(published_twice(server)) == [b"before", b"after"]


LEFT_BEHIND = (
    "future: <Task finished coro=<Client._read_loop() done, defined at /packages/nats/aio/client.py:2395>>"
)


def test_tasks_that_a_lost_connection_leaves_behind_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    problem_of(config(free_port()))
    log = logging.getLogger("asyncio")

    log.error("Task exception was never retrieved\n%s", LEFT_BEHIND, exc_info=ConnectionResetError())
    log.error("Task was destroyed but it is pending!\n%s", LEFT_BEHIND)
    assert caplog.messages == []

    log.error("Task exception was never retrieved\n%s", LEFT_BEHIND, exc_info=ValueError("a bug"))
    log.error("Task exception was never retrieved\nfuture: <Task finished coro=<ours()>>", exc_info=OSError())
    assert len(caplog.messages) == 2


def test_a_server_that_does_not_answer_is_named(port: int) -> None:
    with pytest.raises(ServerError, match=rf"nats://127.0.0.1:{port} does not answer: .*refused"):
        asyncio.run(connect(config(port), "test"))


def test_a_server_without_jetstream_is_not_enough(tmp_path: Path, port: int) -> None:
    with nats_server(tmp_path, port, jetstream=False):
        assert "has no JetStream for this user: enable it there" in problem_of(config(port))


def test_a_user_needs_the_right_password(tmp_path: Path, port: int) -> None:
    right, wrong = secret(tmp_path, "right", "secret\n"), secret(tmp_path, "wrong", "other\n")
    with nats_server(tmp_path, port, 'authorization { user: "edged", password: "secret" }'):
        assert asyncio.run(connected_to(config(port, user="edged", password_file=right)))
        for refused in (config(port), config(port, user="edged", password_file=wrong)):
            assert "rejects this user: check credentials, nkey, or user and password_file" in problem_of(refused)


def test_an_nkey_admits(tmp_path: Path, port: int) -> None:
    seed, public = new_nkey()
    with nats_server(tmp_path, port, f"authorization {{ users: [{{ nkey: {public} }}] }}"):
        assert asyncio.run(connected_to(config(port, nkey=secret(tmp_path, "seed", seed))))
        assert "rejects this user" in problem_of(config(port))


def test_a_certificate_must_be_trusted(tmp_path: Path, port: int) -> None:
    new_authority(tmp_path, "authority")
    new_authority(tmp_path, "stranger")
    new_certificate(tmp_path, "server", "authority")
    new_certificate(tmp_path, "board", "authority")
    files = {"cert_file": "server.crt", "key_file": "server.key", "ca_file": "authority.crt"}
    lines = [f'{key}: "{tmp_path / name}"' for key, name in files.items()]
    own = {"certificate": tmp_path / "board.crt", "key": secret_key(tmp_path / "board.key")}
    with nats_server(tmp_path, port, f"tls {{ {', '.join(lines)}, verify: true }}"):
        trusted = config(port, "tls", tls={"ca": tmp_path / "authority.crt", **own})
        assert asyncio.run(connected_to(trusted))
        for ca in ({}, {"ca": tmp_path / "stranger.crt"}):
            found = problem_of(config(port, "tls", tls={**ca, **own}))
            assert "its certificate is not trusted" in found
            assert "check nats.tls.ca" in found


def secret_key(path: Path) -> Path:
    path.chmod(0o600)
    return path


def test_no_password_crosses_a_link_that_should_be_encrypted(tmp_path: Path, port: int) -> None:
    password = secret(tmp_path, "password", "secret\n")
    with nats_server(tmp_path, port, 'authorization { user: "edged", password: "secret" }', "trace: true"):
        found = problem_of(config(port, "tls", user="edged", password_file=password))
        assert "does not offer TLS: set it up there" in found
        assert "edged" not in (tmp_path / "nats.log").read_text().partition("CONNECT")[2]


@pytest.mark.parametrize(
    ("key", "text", "mode", "message"),
    [
        ("nkey", "SU", 0o644, "others may read this secret: chmod 600"),
        ("nkey", "UA", 0o600, "expected the seed of a user's NKey"),
        ("credentials", "nothing", 0o600, "expected a .creds file of NATS"),
        ("credentials", None, 0o600, "expected a key file, found nothing"),
    ],
)
def test_a_secret_that_cannot_be_used_is_named(
    tmp_path: Path, key: str, text: str | None, mode: int, message: str
) -> None:
    path = tmp_path / "secret" if text is None else secret(tmp_path, "secret", text, mode)
    with pytest.raises(ConfigError) as raised:
        asyncio.run(connect(NatsConfig.model_validate({"servers": ["nats://127.0.0.1:1"], key: path}), "test"))
    assert str(path) in str(raised.value)
    assert message in str(raised.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats", None)
    monkeypatch.setitem(sys.modules, "nats.errors", None)
    with pytest.raises(ConfigError, match=r"NATS needs nats-py: .* -m pip install 'nats-py\[nkeys\]'"):
        asyncio.run(connect(config(1), "test"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"servers": ["nats://fleet"]}, "is unencrypted: use tls://, or add insecure: true"),
        ({"servers": ["nats://127.0.0.1", "tls://fleet"]}, "must be all tls://, or all nats://"),
        ({"servers": []}, "at least 1 item"),
        ({"servers": ["http://fleet"]}, "String should match pattern"),
        ({"nkey": "seed", "user": "a"}, "give nkey or user, not both"),
        ({"credentials": "a.creds", "nkey": "seed"}, "give credentials or nkey, not both"),
        ({"password_file": "p"}, "requires user"),
        ({"tls": {"ca": "a.crt"}}, "requires servers at tls://"),
        ({"servers": ["tls://fleet"], "tls": {"key": "a.key"}}, "certificate and key require each other"),
        ({"subject": "edged.>"}, "String should match pattern"),
        ({"stream": "a.b"}, "String should match pattern"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NatsConfig.model_validate({"servers": ["nats://127.0.0.1"], **fields})


def test_servers_of_this_host_need_no_port() -> None:
    assert config(4222, insecure=False).servers == ("nats://127.0.0.1:4222",)
    assert NatsConfig(servers=("nats://localhost",)).servers == ("nats://localhost",)
