"""`edged view` as a user starts it: whom it lets in, and how it ends."""

import json
import signal
import socket
import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path

import pytest

from edged.cli import run_command_line
from tests.e2e.certificates import new_authority, new_certificate
from tests.eventually import LIMIT_S, free_port

NOBODY = "tcp://127.0.0.1:1"


@contextmanager
def viewing(*arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """A view that listens."""
    command = [sys.executable, "-m", "edged", "view", NOBODY, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert "Ctrl-C ends it" in process.stdout.readline()
            yield process
        finally:
            process.kill()


@contextmanager
def got(port: int, path: str = "/", trust: ssl.SSLContext | None = None, **headers: str) -> Iterator[HTTPResponse]:
    """The answer of a view on this host."""
    kind = HTTPConnection if trust is None else partial(HTTPSConnection, context=trust)
    with closing(kind("127.0.0.1", port, timeout=LIMIT_S)) as connection:
        connection.request("GET", path, headers=headers)
        with closing(connection.getresponse()) as answer:
            yield answer


def refusal(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `edged view` says before it ends with exit code 2."""
    assert run_command_line(["view", NOBODY, *arguments]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_quietly_and_at_once_though_a_browser_looks_on(number: signal.Signals) -> None:
    port = free_port()
    with viewing("--listen", f"127.0.0.1:{port}") as view, got(port, "/events") as events:
        assert events.readline() == b"event: node\n"
        view.send_signal(number)
        _, words = view.communicate(timeout=LIMIT_S)
        assert (view.returncode, words) == (0, "")


def test_a_page_shows_that_there_is_no_hub() -> None:
    port = free_port()
    with viewing("--listen", f"127.0.0.1:{port}"):
        with got(port, "/events") as events:
            assert events.readline() == b"event: node\n"
            assert events.readline() == b"id: 0\n"
            node = json.loads(events.readline().removeprefix(b"data: "))
        assert (node["stale"], node["address"], node["node"], node["cameras"]) == (True, NOBODY, None, [])
        for path, status in {"/picture/1/door/1": 204, "/../server.py": 404, "/%2e%2e/server.py": 404}.items():
            with got(port, path) as answer:
                assert answer.status == status


def test_the_rest_of_the_world_needs_a_certificate_or_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    words = refusal("--listen", "0.0.0.0:9465", capsys=capsys)
    assert "accepts any host: use 127.0.0.1:9465" in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--listen", "9465"], "is not an address like 127.0.0.1:9465"),
        (["--certificate", "a.crt"], "--certificate and --certificate-key require each other"),
        (["--client-ca", "a.crt"], "--client-ca requires --certificate and --certificate-key"),
        (["--password-file", "nowhere"], "nowhere: cannot read this password file"),
        (["--key", "alice.key"], "belong together"),
        (["--listen", "192.0.2.1:9465", "--insecure"], "--listen: 192.0.2.1:9465 cannot be used"),
    ],
)
def test_a_mistake_is_one_clear_error(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refusal(*arguments, capsys=capsys)


def test_a_port_in_use_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert "is in use" in refusal("--listen", f"127.0.0.1:{other.getsockname()[1]}", capsys=capsys)


def test_over_tls_it_asks_for_the_password(tmp_path: Path) -> None:
    new_authority(tmp_path, "authority")
    new_certificate(tmp_path, "board", "authority")
    (tmp_path / "password").write_text("let me in\n")
    port = free_port()
    given = ("--certificate", tmp_path / "board.crt", "--certificate-key", tmp_path / "board.key")
    trust = ssl.create_default_context(cafile=tmp_path / "authority.crt")
    with viewing("--listen", f"0.0.0.0:{port}", *given, "--password-file", tmp_path / "password"):
        with got(port, trust=trust) as answer:
            assert answer.status == 401
        password = b64encode(b"me:let me in").decode()
        with got(port, trust=trust, authorization=f"Basic {password}") as answer:
            assert (answer.status, b"<title>edged</title>" in answer.read()) == (200, True)


CONFIG = "cameras: {door: {source: 'synthetic:ring'}}\n"


def test_a_config_that_names_no_teacher_lets_nobody_teach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "edged.yaml").write_text(CONFIG)
    error = refusal("--teach", str(tmp_path / "edged.yaml"), capsys=capsys)
    assert "view.teachers is missing: add `view: {teachers: {NAME: PASSWORD-FILE}}`" in error


def test_a_password_of_a_teacher_is_never_sent_unencrypted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "edged.yaml").write_text(f"{CONFIG}view: {{teachers: {{anna: anna.password}}}}\n")
    (tmp_path / "anna.password").write_text("secret")
    arguments = ("--teach", str(tmp_path / "edged.yaml"), "--listen", "0.0.0.0:9465", "--insecure")
    assert "passwords must be encrypted" in refusal(*arguments, capsys=capsys)


def test_a_teacher_without_a_password_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "edged.yaml").write_text(f"{CONFIG}view: {{teachers: {{anna: absent}}}}\n")
    assert "absent" in refusal("--teach", str(tmp_path / "edged.yaml"), capsys=capsys)


def test_what_a_teacher_does_is_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "edged.yaml").write_text(f"{CONFIG}view: {{teachers: {{anna: anna.password}}}}\n")
    (tmp_path / "anna.password").write_text("secret")
    port = free_port()
    with (
        viewing("--listen", f"127.0.0.1:{port}", "--teach", tmp_path / "edged.yaml") as view,
        closing(HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)) as browser,
    ):
        sent = {"content-type": "application/json"}
        browser.request("POST", "/teach/login", json.dumps({"user": "anna", "password": "secret"}), sent)
        answer = browser.getresponse()
        sent["cookie"] = str(answer.getheader("set-cookie")).partition(";")[0]
        sent["x-edged-token"] = json.loads(answer.read())["token"]
        browser.request("POST", "/teach/start", json.dumps({"action": "rollback"}), sent)
        assert browser.getresponse().status == 200
        assert view.stderr
        assert view.stderr.readline().endswith("view: anna started a rollback\n")
