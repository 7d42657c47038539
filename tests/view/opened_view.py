"""A view in a thread of this process, which a test tells what to show."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from threading import Thread

from edged.view.server import view_server
from edged.view.watcher import Watcher
from edged.web.limits import ConnectionLimits
from edged.web.server import bound
from tests.eventually import LIMIT_S, free_port

HOST = "127.0.0.1"
SOON = ConnectionLimits(
    connections=24, connections_each=16, handshake_s=1, request_s=1, stalled_s=1, drain_s=5, look_s=0.05, viewers=4
)


class View:
    """A view in a thread of this process, and what it has to show."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.watcher = Watcher("tcp://127.0.0.1:1")

    @contextmanager
    def get(self, path: str = "/", source: str = HOST, **headers: str) -> Iterator[HTTPResponse]:
        """The answer to a browser at the address `source`."""
        connection = HTTPConnection(HOST, self.port, timeout=LIMIT_S, source_address=(source, 0))
        with closing(connection):
            connection.request("GET", path, headers=headers)
            with closing(connection.getresponse()) as answer:
                yield answer

    def connect(self, sent: bytes = b"", source: str = HOST) -> socket.socket:
        """A connection with small buffers, on which this was sent."""
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.bind((source, 0))
        peer.settimeout(LIMIT_S)
        peer.connect((HOST, self.port))
        peer.sendall(sent)
        return peer

    def has_disconnected(self, **counts: int) -> bool:
        """Whether the page says so, now or with its next figures."""
        with self.get("/events") as events:
            return any(counts == self._next_counts(events) for _ in range(5))

    @staticmethod
    def _next_counts(events: HTTPResponse) -> dict[str, int]:
        while (line := events.readline()) != b"event: node\n":
            if not line:  # the view has ended the stream
                return {}
        events.readline()  # the number of the node
        counts: dict[str, int] = json.loads(events.readline().removeprefix(b"data: "))["disconnections"]
        return counts


@contextmanager
def serving(
    limits: ConnectionLimits = SOON, password: str | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[View]:
    view = View(free_port())
    listener = bound(f"{HOST}:{view.port}")
    server = view_server([view.watcher], listener, password=password, tls=tls, limits=limits)
    thread = Thread(target=server.serve_requests)
    thread.start()
    try:
        yield view
    finally:
        server.should_exit = True
        thread.join(LIMIT_S)
        assert not thread.is_alive()
