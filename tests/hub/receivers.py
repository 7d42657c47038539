"""A real HTTP server that takes notifications, fails, hangs, and comes back."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.eventually import LIMIT_S, free_port


@dataclass(frozen=True)
class Taken:
    """A request as it came."""

    path: str
    headers: Message
    body: bytes


class NotificationServer:
    """Answers with `status`, once it no longer `hangs`; keeps what it has `taken` and how often it was `asked`."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.port = free_port()
        self.status = 200
        self.taken: list[Taken] = []
        self.asked = 0
        self.goes_on = threading.Event()
        self.goes_on.set()

    @property
    def bodies(self) -> list[bytes]:
        return [each.body for each in self.taken]

    @contextmanager
    def open(self) -> Iterator[None]:
        """Listen until the end of the block."""
        server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler_of(self))
        server.daemon_threads = True
        if self._tls:
            server.socket = self._tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self.goes_on.set()
            server.shutdown()
            thread.join(LIMIT_S)
            server.server_close()


def _handler_of(receiver: NotificationServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.asked += 1
            receiver.goes_on.wait(LIMIT_S)
            if 200 <= receiver.status < 300:
                receiver.taken.append(Taken(self.path, self.headers, body))
            self.send_response(receiver.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
