"""Serve the metrics to Prometheus.

prometheus-client has a server too, with the same options for TLS; but there one client that stalls its handshake
stops every scrape, and a silent client occupies a thread for ever.
"""

import contextlib
import gzip
import io
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

from edged.clock import nanoseconds, now_ns
from edged.hub.links.authentication import Rejections
from edged.hub.service_threads import ServiceThreads

ENDPOINT = "metrics.address"
CONNECTIONS = 32  # connections; one more, and the oldest is closed
LONGEST_S = 3.0  # for a whole scrape, TLS handshake included
REQUEST_BYTES = 16_384
PAUSE_AFTER = 1 << 18  # characters, two milliseconds of work; each pause may last for one turn of the hub's loop
PAUSE_S = 50e-6  # long enough for another thread to take the lock
GZIP_LEVEL = 1  # compression level: a tenth of the size in a tenth of the time of the highest
LOOK_S = 0.2  # seconds between two checks for slow clients
OF_TLS = {"PEER_DID_NOT_RETURN_A_CERTIFICATE": "no_certificate", "CERTIFICATE_VERIFY_FAILED": "no_certificate"}


class Scrapes(ThreadingTCPServer):
    """The server, with a thread for each connection, which has one request and a short time."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self,
        host: str,
        port: int,
        text: Callable[[], Iterable[str]],
        rejections: Rejections,
        tls: ssl.SSLContext | None,
    ) -> None:
        """Bind, without accepting connections yet. `text`: returns the answer, in pieces.

        Raises OSError if the address cannot be used.
        """
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self._tls = tls
        self._rejections = rejections
        self._open: dict[Any, tuple[int, str]] = {}  # start (now_ns) and peer of each connection, the oldest first
        self._text = text
        super().__init__((host, port), Scrape)

    def start(self, services: ServiceThreads) -> None:
        """Answer in a thread, until `stop`."""
        services.start("metrics", lambda: self.serve_forever(LOOK_S))

    def stop(self) -> None:
        """Stop answering."""
        self.shutdown()
        self.server_close()

    def answer(self) -> bytes:
        """Yield all metrics, with pauses for the hub's thread, which needs the same lock."""
        pieces, unpaused = [], 0
        for piece in self._text():
            pieces.append(piece)
            unpaused += len(piece)
            if unpaused > PAUSE_AFTER:
                time.sleep(PAUSE_S)
                unpaused = 0
        return "".join(pieces).encode()

    def reject(self, connection: Any, reason: str, detail: str = "") -> None:
        """Count a peer that gets no answer, once, and close its connection."""
        _, host = self._open.pop(connection, (0, ""))
        if host:
            self._rejections.add(ENDPOINT, reason, host, detail)
            with contextlib.suppress(OSError):
                # TLS's own shutdown would continue in clear text
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def get_request(self) -> tuple[Any, Any]:
        """Accept a connection; its own thread does the TLS handshake."""
        connection, address = super().get_request()
        if self._tls and isinstance(connection, socket.socket):
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for the connection, and limit its time and the number of connections."""
        if len(held := list(self._open)) >= CONNECTIONS:
            self.reject(held[0], "too_many")
        self._open[request] = now_ns(), str(client_address[0])
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Disconnect clients that take too long; called between connections."""
        for connection, (since_ns, _) in list(self._open.items()):
            if now_ns() - since_ns > nanoseconds(LONGEST_S):
                self.reject(connection, "slow")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Count an error that a peer caused; a peer that only left is ignored."""
        error = sys.exc_info()[1]
        if isinstance(error, ssl.SSLError):
            self.reject(request, OF_TLS.get(error.reason or "", "not_tls"), error.reason or "")
        elif isinstance(error, TooMuchError):
            self.reject(request, "too_much")
        elif not isinstance(error, OSError):
            self.reject(request, "malformed", type(error).__name__)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._open.pop(request, None)
        super().shutdown_request(request)


class Scrape(BaseHTTPRequestHandler):
    """One request and its answer."""

    server: Scrapes

    def do_GET(self) -> None:
        """Answer with Prometheus' text format, whatever the path."""
        body = self.server.answer()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            self.send_header("Content-Encoding", "gzip")
            body = gzip.compress(body, GZIP_LEVEL)
        self.end_headers()
        self.wfile.write(body)

    def setup(self) -> None:
        """Do the TLS handshake, and limit the size of the request."""
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        super().setup()
        self.rfile = Bounded(self.request.makefile("rb", buffering=0))

    def finish(self) -> None:
        """Close the connection to mark the end: the answer has no length."""
        super().finish()
        if isinstance(self.request, ssl.SSLSocket):
            with contextlib.suppress(OSError):
                self.request.unwrap()

    def log_message(self, *_: Any) -> None:
        """Log nothing for each scrape."""

    def log_error(self, format: str, *arguments: Any) -> None:  # noqa: A002 - its name there
        """Log an invalid request, without its content."""
        self.server.reject(self.request, "malformed", f"HTTP status {arguments[0]:d}")


class TooMuchError(Exception):
    """The request is larger than a scrape needs."""


class Bounded(io.BufferedReader):
    """Reads lines up to a limit."""

    _left = REQUEST_BYTES

    def readline(self, size: int | None = None, /) -> bytes:
        """Return the next line. Raises TooMuchError."""
        line = super().readline(self._left + 1 if size is None else min(size, self._left + 1))
        self._left -= len(line)
        if self._left < 0:
            raise TooMuchError
        return line
