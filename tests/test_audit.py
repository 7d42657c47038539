"""`make audit`, with a service of advisories that is ours."""

import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.deep


class Advisories(BaseHTTPRequestHandler):
    """Answers as OSV does: an advisory for each package in `known`, by name."""

    known: ClassVar[dict[str, str]] = {}

    def do_POST(self) -> None:
        """Answer a query for one package."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, version = asked["package"]["name"], asked["version"]
        content = json.dumps({"vulns": [_advisory(self.known[name], name, version)]} if name in self.known else {})
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


def _advisory(identity: str, name: str, version: str) -> dict[str, Any]:
    affected = {"package": {"name": name, "ecosystem": "PyPI"}, "versions": [version], "ranges": []}
    return {"id": identity, "summary": "a weakness", "details": "a weakness", "affected": [affected]}


@pytest.fixture
def service() -> Iterator[str]:
    """The address of a service that is asked in place of the real one."""
    server = HTTPServer(("127.0.0.1", 0), Advisories)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/query"
    server.shutdown()
    server.server_close()


def audit(address: str) -> subprocess.CompletedProcess[str]:
    options = f"AUDIT=--vulnerability-service osv --osv-url {address}"
    command = ["make", "--silent", "audit", options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_it_passes_where_nothing_is_known(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Advisories, "known", {})
    done = audit(service)
    assert done.returncode == 0, done.stderr
    assert "No known vulnerabilities found" in done.stderr


@pytest.mark.parametrize("package", ["numpy", "starlette"], ids=["of every edged", "of an extra in the package"])
def test_it_fails_with_the_name_of_the_advisory(
    service: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Advisories, "known", {package: "PYSEC-2026-1"})
    done = audit(service)
    assert done.returncode != 0
    assert package in done.stdout
    assert "PYSEC-2026-1" in done.stdout


def test_it_fails_where_no_answer_comes() -> None:
    done = audit("http://127.0.0.1:1/v1/query")
    assert done.returncode != 0
    assert "No known vulnerabilities" not in done.stderr
