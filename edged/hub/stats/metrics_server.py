"""Serve the metrics and the hub's own address to Prometheus, and the hub's health to probes.

prometheus-client has a server too, with the same options for TLS; but there one client that stalls its handshake
stops every scrape, and a silent client occupies a thread for ever.
"""

import contextlib
import gzip
import io
import re
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any
from urllib.parse import urlsplit

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.hub.links.authentication import Rejections
from edged.hub.service_threads import ServiceThreads
from edged.hub.stats.targets import asked_address, targets_text

LIVE_S = 10.0  # longest time between two reports of the loop, which reports each second

ENDPOINT = "metrics.address"
CONNECTIONS = 32  # connections; one more, and the oldest is closed
LONGEST_S = 3.0  # for a whole scrape, TLS handshake included
REQUEST_BYTES = 16_384
PAUSE_AFTER = 1 << 18  # characters, two milliseconds of work; each pause may last for one turn of the hub's loop
PAUSE_S = 50e-6  # long enough for another thread to take the lock
METRICS = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
JSON = "application/json; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
OF_COUNTER = re.compile(r"^# (HELP|TYPE) (\w+)_total ", re.MULTILINE)
GZIP_FROM = 1024  # bytes; less fits one packet
GZIP_LEVEL = 1  # compression level: a tenth of the size in a tenth of the time of the highest
LOOK_S = 1.0  # seconds between two checks for slow clients
OF_TLS = {"PEER_DID_NOT_RETURN_A_CERTIFICATE": "no_certificate", "CERTIFICATE_VERIFY_FAILED": "no_certificate"}


class Health:
    """What the loop last reported. Reported by the hub's thread, read by others."""

    def __init__(self, failed_services: Callable[[], Sequence[str]]) -> None:
        """failed_services: returns the names of the service threads that have failed."""
        self._failed_services = failed_services
        self._reported: tuple[int, bool] = (now_ns(), False)  # one object, so that no reader sees half of a report

    def report(self, now: int, *, ready: bool) -> None:
        """Report that the loop turns, and whether a worker is ready."""
        self._reported = now, ready

    def why_not_live(self) -> str:
        """Return why the process should be restarted; empty if it should not."""
        stalled_ns = now_ns() - self._reported[0]
        if stalled_ns <= nanoseconds(LIVE_S):
            return ""
        return f"the hub's loop has not turned for {stalled_ns / NANOSECONDS:.0f} s"

    def why_not_ready(self) -> str:
        """Return why no predictions can be expected; empty if they can."""
        if problem := self.why_not_live():
            return problem
        if failed := self._failed_services():
            return f"failed: {', '.join(failed)}"
        return "" if self._reported[1] else "no worker is ready"


@dataclass(frozen=True, slots=True)
class HttpPage:
    """The answer to a request: its status, and a text of this type."""

    status: int
    content_type: str
    text: str


NOT_FOUND = HttpPage(HTTPStatus.NOT_FOUND, PLAIN, "there are /metrics, /targets, /healthz and /readyz\n")
NO_HOST = HttpPage(
    HTTPStatus.BAD_REQUEST, PLAIN, "expected one header Host, of a host's name or address and a port\n"
)
NOT_ALLOWED = HttpPage(HTTPStatus.METHOD_NOT_ALLOWED, PLAIN, "use GET or HEAD\n")


def health_page(problem: str) -> HttpPage:
    """Return the answer to a probe: what is wrong, or that nothing is."""
    return HttpPage(HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK, PLAIN, f"{problem or 'ok'}\n")


def in_open_metrics(text: str) -> str:
    """Convert Prometheus' text format to OpenMetrics 1.0: a counter's name has no `_total`; the end is marked."""
    return OF_COUNTER.sub(r"# \1 \2 ", text) + "# EOF\n"


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
        health: Health,
        rejections: Rejections,
        tls: ssl.SSLContext | None,
        node: str,
    ) -> None:
        """Bind, without accepting connections yet. `text`: returns all metrics, in pieces.

        Raises OSError if the address cannot be used.
        """
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self._tls = tls
        self._node = node
        self._rejections = rejections
        self._open: dict[Any, tuple[int, str]] = {}  # start (now_ns) and peer of each connection, the oldest first
        self._text = text
        self._health = health
        super().__init__((host, port), Scrape)

    def start(self, services: ServiceThreads) -> None:
        """Answer in a thread, until `stop`."""
        services.start("metrics", lambda: self.serve_forever(LOOK_S))

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # which wakes the thread
        self.shutdown()
        self.server_close()

    def page(self, path: str, hosts: Sequence[str], *, open_metrics: bool) -> "HttpPage | None":
        """Return what a path shows; None if there is no such path. `hosts`: the request's headers `Host`."""
        if path == "/metrics":
            text = self._metrics()
            return (
                HttpPage(200, OPEN_METRICS, in_open_metrics(text))
                if open_metrics
                else HttpPage(200, METRICS, text)
            )
        if path == "/targets":
            return self._targets(hosts)
        if path == "/healthz":
            return health_page(self._health.why_not_live())
        if path == "/readyz":
            return health_page(self._health.why_not_ready())
        return None

    def _targets(self, hosts: Sequence[str]) -> HttpPage:
        try:
            address = asked_address(hosts, default_port=443 if self._tls else 80)
        except ValueError:
            return NO_HOST
        return HttpPage(HTTPStatus.OK, JSON, targets_text(self._node, address))

    def _metrics(self) -> str:
        """Return all metrics, with pauses for the hub's thread, which needs the same lock."""
        pieces, unpaused = [], 0
        for piece in self._text():
            pieces.append(piece)
            unpaused += len(piece)
            if unpaused > PAUSE_AFTER:
                time.sleep(PAUSE_S)
                unpaused = 0
        return "".join(pieces)

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
        self._open.pop(request, None)
        super().shutdown_request(request)


class Scrape(BaseHTTPRequestHandler):
    """One request and its answer."""

    server: Scrapes
    server_version, sys_version = "edged", ""  # strangers need no versions

    def do_GET(self) -> None:
        """Answer with the page of the path."""
        accepted = self.headers.get("Accept", "")
        hosts = self.headers.get_all("Host", [])
        page = self.server.page(
            urlsplit(self.path).path, hosts, open_metrics="application/openmetrics-text" in accepted
        )
        self._send(page or NOT_FOUND)

    do_HEAD = do_GET  # noqa: N815 - its name there

    def do_POST(self) -> None:
        """Refuse what would change something: nothing can be changed here."""
        self._send(NOT_ALLOWED)

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST  # noqa: N815

    def _send(self, page: HttpPage) -> None:
        body = page.text.encode()
        self.send_response(page.status)
        self.send_header("Content-Type", page.content_type)
        if page.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > GZIP_FROM:
            self.send_header("Content-Encoding", "gzip")
            body = gzip.compress(body, GZIP_LEVEL)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def setup(self) -> None:
        """Do the TLS handshake, and limit the size of the request."""
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        super().setup()
        self.rfile = Bounded(self.request.makefile("rb", buffering=0))

    def finish(self) -> None:
        """Close the connection: it has one request."""
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
