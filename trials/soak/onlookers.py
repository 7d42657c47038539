"""`edged view` beside the daemon, its owner, and clients that mean it no good."""

import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from typing import Self

from tests.e2e.witness import Keys
from tests.eventually import eventually, free_port

OWNER, STRANGER = "127.0.0.1", "127.0.0.2"
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
NOT_READ = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALVES, SLOW = 140, 60


def has_view() -> bool:
    """Whether `edged view` can run here."""
    return all(find_spec(name) for name in ("starlette", "uvicorn"))


class View:
    """One `edged view`, which outlives the daemons that it shows."""

    def __init__(self, address: str, keys: Keys) -> None:
        self._port = free_port()
        options = ["--key", str(keys["key"]), "--server-key", str(keys["server_key"])]
        self._command = [sys.executable, "-m", "edged", "view", address, *options]
        self._command += ["--listen", f"{OWNER}:{self._port}"]
        self._strangers = ExitStack()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(self.serves_its_owner)
        return self

    def __exit__(self, *_: object) -> None:
        self.strangers_leave()
        self._process.kill()
        self._process.wait()

    def serves_its_owner(self, within_s: float = 5.0) -> bool:
        """Whether the page comes."""
        connection = HTTPConnection(OWNER, self._port, timeout=within_s)
        with suppress(OSError, HTTPException):
            connection.request("GET", "/")
            return connection.getresponse().status == 200
        return False

    def strangers_come(self) -> None:
        """Half requests, and readers of the stream that do not read, from another address."""
        for request in [HALF] * HALVES + [NOT_READ] * SLOW:
            with suppress(OSError):  # it may be refused
                peer = socket.create_connection((OWNER, self._port), timeout=1, source_address=(STRANGER, 0))
                self._strangers.callback(peer.close)
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                peer.sendall(request)

    def strangers_leave(self) -> None:
        """All of them."""
        self._strangers.close()
