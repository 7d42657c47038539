"""Serve the page: its routes, events and pictures, and who may see them (host name and password)."""

import asyncio
import base64
import binascii
import contextlib
import hmac
import ipaddress
import logging
import math
import platform
import secrets
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edged.transport.address import host_and_port, is_ipv6
from edged.view.connections import RETRY_S, ConnectionServer, Disconnections, ViewConnection
from edged.view.feed import TICK_S, Feed
from edged.view.limits import ConnectionLimits, PasswordThrottle, displaced_by, network_of
from edged.view.teach_jobs import TeachJobs
from edged.view.teaching import Teachers, TeachingSite
from edged.view.watcher import Watcher

PAGE = Path(__file__).with_name("page")


@dataclass(eq=False, slots=True)
class Viewer:
    """A browser that receives events. `rank`: see `LimitedConnection`."""

    host: str
    rank: tuple[int, float]
    is_displaced: bool = False


class ViewSite:
    """Shows the state of the watchers' nodes, until `is_closing`."""

    def __init__(
        self,
        watchers: Sequence[Watcher],
        disconnections: Disconnections,
        viewers: int,
        is_closing: Callable[[], bool],
        teaching: TeachingSite | None = None,
    ) -> None:
        """`viewers`: streams of events at once. `teaching`: of the first node."""
        self._watchers = {watcher.run: watcher for watcher in watchers}
        self._feeds = [
            Feed(watcher, disconnections.totals, number=number, is_taught=bool(teaching) and number == 0)
            for number, watcher in enumerate(watchers)
        ]
        self._teaching = teaching
        self._disconnections = disconnections
        self._is_closing = is_closing
        self._most = viewers
        self._viewers: set[Viewer] = set()

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/events", self._events),
                Route("/picture/{run}/{camera}/{number:int}", self._picture),
                *(self._teaching.routes() if self._teaching else []),
                Mount("/", StaticFiles(directory=PAGE, html=True)),
            ]
        )

    async def _events(self, request: Request) -> Response:
        viewer = self._viewer(network_of(request.client.host if request.client else ""))
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._updates(viewer), media_type="text/event-stream", headers=headers)

    def _viewer(self, host: str) -> Viewer:
        """Add a viewer; if all places are taken, another viewer's stream ends."""
        displaced = displaced_by(host, self._viewers, self._most, self._most)
        if displaced:
            displaced.is_displaced = True
            self._viewers.discard(displaced)
            self._disconnections.add("too_many", displaced.host)
        return Viewer(host, (0, time.monotonic()))

    async def _updates(self, viewer: Viewer) -> AsyncIterator[bytes]:
        """Yield what has changed since the last event, as fast as the browser reads, at most every `TICK_S`."""
        self._viewers.add(viewer)
        try:
            versions = [0] * len(self._feeds)
            while not (self._is_closing() or viewer.is_displaced):
                for number, feed in enumerate(self._feeds):
                    feed.refresh(time.monotonic())
                    versions[number], events = feed.events_since(versions[number])
                    if events:
                        yield events
                await asyncio.sleep(TICK_S)
        finally:
            self._viewers.discard(viewer)

    async def _picture(self, request: Request) -> Response:
        run, camera, number = request.path_params.values()
        watcher = self._watchers.get(run)
        jpeg = watcher.jpeg(camera, number) if watcher else None
        if jpeg is None:
            return Response(status_code=204)  # replaced by newer ones: no error of the browser
        return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "no-store"})


COOKIE = "edged-view"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class AccessControl:
    """Rejects requests without permission, and sets security headers on each response.

    A foreign page may lead a browser here under another name (DNS rebinding): so only requests by address, by this
    host's own name, and by those of `names` are answered.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Iterable[str] = (),
        password: str | None = None,
        disconnections: Disconnections | None = None,
    ) -> None:
        own = platform.node().lower()
        self._app = app
        self._names = {"localhost", own, f"{own}.local", *(name.lower() for name in names)} - {"", ".local"}
        self._password = password
        self._throttle = PasswordThrottle()
        self._known = secrets.token_urlsafe(32)  # cookie of browsers that have sent the password before
        self._disconnections = disconnections or Disconnections()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-cache")
                if connection and connection.is_trusted and not self._has_cookie(scope):
                    headers.append("set-cookie", self._cookie(scope["scheme"]))
            await send(message)

        connection: ViewConnection | None = scope.get("state", {}).get("connection")
        app = self._app if scope["type"] != "http" else self._refusal(scope, connection) or self._app
        await app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, connection: ViewConnection | None) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if not self._knows(headers.get("host", "")):
            return PlainTextResponse("edged view has another name: see its option --server-name\n", 421)
        if self._password is None:
            return None
        who, now_s = self._guesser(scope), time.monotonic()
        if not (authorization := headers.get("authorization")):
            return _unauthorized()
        if (pause_s := self._throttle.pause_s(who, now_s)) > 0:
            self._disconnections.add("guessing", who)
            return PlainTextResponse(
                "too many wrong passwords from this address\n",
                429,
                {"retry-after": str(math.ceil(pause_s)), "connection": "close"},
            )
        if not self._opens(authorization):
            self._throttle.record_failure(who, now_s)
            self._disconnections.add("wrong_password", who)
            return _unauthorized()
        self._throttle.forgive(who)
        if connection:
            connection.is_trusted = True
        return None

    def _guesser(self, scope: Scope) -> str:
        """Return whose wrong passwords count together: of an address, or of all browsers accepted before.

        So guesses from the same address, as behind a shared router, lock out no browser that was accepted before.
        """
        if self._has_cookie(scope):
            return "a browser that was accepted before"
        return network_of(scope["client"][0] if scope.get("client") else "")

    def _has_cookie(self, scope: Scope) -> bool:
        token = cookie_parser(Headers(scope=scope).get("cookie", "")).get(COOKIE, "")
        return hmac.compare_digest(token.encode(), self._known.encode())

    def _cookie(self, scheme: str) -> str:
        secure = "; Secure" if scheme == "https" else ""
        return f"{COOKIE}={self._known}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def _knows(self, host: str) -> bool:
        name = host.lower()
        if not name.endswith("]"):  # an IPv6 address without a port
            name = name.rpartition(":")[0] or name
        name = name.removeprefix("[").removesuffix("]")
        return name in self._names or _is_address(name)

    def _opens(self, authorization: str) -> bool:
        """Return whether the password is correct, whatever the user name."""
        scheme, _, credentials = authorization.partition(" ")
        try:
            _, _, password = base64.b64decode(credentials, validate=True).partition(b":")
        except (binascii.Error, ValueError):
            return False
        return scheme.lower() == "basic" and hmac.compare_digest(password, (self._password or "").encode())


def _unauthorized() -> PlainTextResponse:
    challenge = {"www-authenticate": 'Basic realm="edged view", charset="UTF-8"'}
    return PlainTextResponse("a password is required\n", 401, challenge)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


BACKLOG = 128  # connections that the kernel queues until they are accepted
LAST_WORDS_S = 1  # seconds for responses in progress at the end

log = logging.getLogger("edged.view")


def bound(address: str) -> socket.socket:
    """Return a socket that listens at host:port. Raises OSError if that is impossible."""
    family = socket.AF_INET6 if is_ipv6(address) else socket.AF_INET
    return socket.create_server(host_and_port(address), family=family, backlog=BACKLOG)


def view_server(
    watchers: Sequence[Watcher],
    listener: socket.socket,
    *,
    names: Iterable[str] = (),
    password: str | None = None,
    tls: ssl.SSLContext | None = None,
    limits: ConnectionLimits | None = None,
    teaching: tuple[Teachers, TeachJobs] | None = None,
) -> "Server":
    """Return a server that shows the nodes of `watchers` at `listener`.

    `names`: accepted names of this host. `teaching`: who may teach the first node, and its jobs.
    """
    limits = limits or ConnectionLimits()
    disconnections = Disconnections()
    teach = TeachingSite(*teaching, disconnections) if teaching else None
    site = ViewSite(watchers, disconnections, limits.viewers, lambda: server.should_exit, teach)
    config = uvicorn.Config(
        AccessControl(site.app(), names, password, disconnections),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=LAST_WORDS_S,
    )
    config.load()
    server = Server(config, ConnectionServer(listener, tls, limits, disconnections))
    return server


class Server(uvicorn.Server):
    """Gets its connections from a `ConnectionServer` instead of its own sockets."""

    def __init__(self, config: uvicorn.Config, entrance: ConnectionServer) -> None:
        super().__init__(config)
        self._entrance = entrance
        self._tasks: list[asyncio.Task[None]] = []

    def serve_pages(self) -> None:
        """Serve until SIGINT or SIGTERM, or `should_exit`."""
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            self.run(sockets=[])
        self._entrance.close()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tasks = [
            asyncio.create_task(_repeat(work))
            for work in (lambda: self._entrance.accept(self), self._entrance.watch)
        ]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, and finish answers."""
        for task in self._tasks:
            task.cancel()
        await super().shutdown(sockets)


async def _repeat(work: Callable[[], Awaitable[None]]) -> None:
    """Log an error of a request: it must not end the page for others."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("view: an error of a request; the view continues")
            await asyncio.sleep(RETRY_S)
