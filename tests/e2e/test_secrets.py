"""Passwords and keys of a daemon to which everything happens that makes it speak: they are nowhere to be found."""

import base64
import json
import re
import secrets
import signal
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import psutil
import pytest
import zmq

from edged.transport.keys import load_pair, new_pair
from tests.camera.rtsp import RtspServer, skip_without_gstreamer
from tests.cli.command import edged
from tests.e2e.certificates import new_authority, new_certificate
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, run_edged
from tests.e2e.zmtp import connected, is_cut
from tests.eventually import LIMIT_S, TURN_MS, eventually, free_port, in_background
from tests.notified import notified

pytestmark = pytest.mark.deep

Config = dict[str, Any]


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Secrets of every kind, where the config below finds them, and the forms in which they could leak."""
    of_file, of_environment = (f"Pa:{secrets.token_hex(8)}/@%" for _ in range(2))
    (tmp_path / "password").write_text(of_file)
    monkeypatch.setenv("YARD_PASSWORD", of_environment)
    for name in ("hub", "alice", "mallory"):
        new_pair(tmp_path, name)
    new_authority(tmp_path, "ours")
    new_certificate(tmp_path, "tls", "ours")
    in_url = "Pw" + secrets.token_hex(8)
    (tmp_path / "in_url").write_text(in_url)
    passwords = {of_file, of_environment, in_url}
    coded = {quote(each, safe="") for each in passwords}
    basic = {base64.b64encode(f"me:{each}".encode()).decode() for each in passwords}
    halves = {each[3:11] for each in (of_file, of_environment)} | {in_url[:10], in_url[10:]}
    curve = {load_pair(tmp_path / f"{name}.key").secret.decode() for name in ("hub", "alice", "mallory")}
    lines = set(re.findall(r"^[A-Za-z0-9+/=]{20,}$", (tmp_path / "tls.key").read_text(), re.MULTILINE))
    assert lines
    return passwords | coded | basic | halves | curve | lines


@pytest.fixture
def camera() -> Iterator[RtspServer]:
    """One that wants another password."""
    skip_without_gstreamer()
    server = RtspServer("me:another")
    server.start()
    yield server
    server.kill()


def config_of(folder: Path, camera: RtspServer) -> Config:
    """Two cameras that cannot be used, one that can, and keys for all that has keys."""
    nobody = f"rtsp://127.0.0.1:{free_port()}/live?token={(folder / 'in_url').read_text()}"
    cameras = {
        "demo": SYNTHETIC,
        "door": {"source": camera.url, "user": "me", "password_file": "password"},
        "yard": {"source": nobody, "user": "me", "password_env": "YARD_PASSWORD"},
    }
    tls = {"certificate": "tls.crt", "key": "tls.key"}
    metrics = {"address": f"127.0.0.1:{free_port()}", "tls": tls}
    security = {"key": "hub.key", "allow": ["alice.pub"]}
    return config_in(folder, cameras=cameras, metrics=metrics, security=security)


@contextmanager
def overheard(daemon: Daemon) -> Iterator[list[bytes]]:
    """All that is published meanwhile, and every command line of the daemon and its children."""
    heard: list[bytes] = []

    def listen(stopped: threading.Event) -> None:
        with zmq.Context() as context, subscriber(context, daemon, "alice") as stream:
            while not stopped.is_set():
                if stream.poll(TURN_MS):
                    heard.append(b" ".join(stream.recv_multipart()))
                heard.extend(command_lines(daemon))

    with in_background(listen):
        yield heard


def subscriber(context: zmq.Context[zmq.Socket[bytes]], daemon: Daemon, name: str) -> zmq.Socket[bytes]:
    pair, hub = load_pair(daemon.folder / f"{name}.key"), load_pair(daemon.folder / "hub.key")
    stream = context.socket(zmq.SUB)
    stream.setsockopt(zmq.LINGER, 0)
    stream.setsockopt(zmq.CURVE_PUBLICKEY, pair.public)
    stream.setsockopt(zmq.CURVE_SECRETKEY, pair.secret)
    stream.setsockopt(zmq.CURVE_SERVERKEY, hub.public)
    stream.subscribe(b"")
    stream.connect(daemon.address)
    return stream


def command_lines(daemon: Daemon) -> Iterator[bytes]:
    for process in (psutil.Process(daemon.process.pid), *daemon.children()):
        try:
            yield Path(f"/proc/{process.pid}/cmdline").read_bytes()
        except OSError:
            continue  # it has ended


def scrape(daemon: Daemon) -> bytes:
    context = ssl.create_default_context(cafile=daemon.folder / "ours.crt")
    with urlopen(
        f"https://{daemon.config['metrics']['address']}/metrics", timeout=LIMIT_S, context=context
    ) as answer:
        return bytes(answer.read())


def bad_configs(daemon: Daemon) -> Iterator[Config]:
    """Files that a reload refuses, with secrets where none may be."""
    password = (daemon.folder / "in_url").read_text()
    urls = {
        "whole": {"source": f"rtsp://me:{password}@host/live"},
        "cut": {"source": f"rtsp://me:{password[:10]}/{password[10:]}@host/live"},
        "port": {"source": f"rtsp://me:{password}/live"},
        "key": {"source": 0, "password": password},
    }
    yield {**daemon.config, "cameras": urls}
    yield {**daemon.config, "cameras": {"demo": {**SYNTHETIC, "password_file": "tls.key"}}}
    yield {**daemon.config, "security": {"key": "hub.key", "allow": ["tls.key"]}}


def provoke(daemon: Daemon) -> Iterator[bytes]:
    """Everything that makes the daemon speak; what the commands say."""
    for verb in ("camera", "worker"):
        daemon.child(verb).send_signal(signal.SIGSEGV)
    with connected(daemon.address) as peer, connected(daemon.config["metrics"]["address"]) as scraper:
        for each in (peer, scraper):
            each.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert is_cut(each)
    with zmq.Context() as context, subscriber(context, daemon, "mallory"):
        eventually(lambda: "its key is not allowed there" in daemon.log())
    path, environment = daemon.folder / "edged.yaml", {"XDG_STATE_HOME": str(daemon.folder)}
    good = path.read_text()
    for count, bad in enumerate(bad_configs(daemon), 1):
        path.write_text(json.dumps(bad))
        daemon.process.send_signal(signal.SIGHUP)
        eventually(lambda: daemon.log().count("the present config stays in use") == count)  # noqa: B023
    yield edged("reload", path, env=environment).stderr.encode()
    path.write_text(good)
    for verb in ("check", "export"):
        done = edged(verb, path, env=environment)
        yield (done.stdout + done.stderr).encode()


def test_no_secret_is_logged_published_measured_kept_or_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: set[str], camera: RtspServer
) -> None:
    with (
        notified(tmp_path, monkeypatch) as told,
        run_edged(tmp_path, config=config_of(tmp_path, camera)) as daemon,
    ):
        with overheard(daemon) as heard:
            eventually(lambda: b"/prediction" in b"".join(heard))
            eventually(lambda: daemon.log().count(" is down: ") >= 2)
            heard.extend(provoke(daemon))
            heard.append(scrape(daemon))
        daemon.stop()
        kept = b"".join(path.read_bytes() for path in (tmp_path / "edged").rglob("*") if path.is_file())
        said = daemon.log().encode() + (tmp_path / "stdout").read_bytes()
    everything = b"\n".join([*heard, kept, said, *map(str.encode, told.lines)])
    assert [secret for secret in planted if secret.encode() in everything] == []
    for part in (b'"event":"camera_down"', b"STATUS=", b"SIGSEGV", b"worker\0", b"edged_peers_rejected_total{"):
        assert part in everything
