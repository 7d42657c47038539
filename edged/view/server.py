"""Serves the page."""

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable

import uvicorn

from edged.address import host_and_port, is_ipv6
from edged.view.disconnections import Disconnections
from edged.view.doors import Doors
from edged.view.entrance import RETRY_S, Entrance
from edged.view.guests import Limits
from edged.view.site import Site
from edged.view.watcher import Watcher

BACKLOG = 128  # connections that the kernel keeps until they are accepted
LAST_WORDS_S = 1  # for answers that are under way at the end

log = logging.getLogger("edged.view")


def bound(address: str) -> socket.socket:
    """A socket that listens at host:port. Raises OSError where that cannot be."""
    family = socket.AF_INET6 if is_ipv6(address) else socket.AF_INET
    return socket.create_server(host_and_port(address), family=family, backlog=BACKLOG)


def view_server(
    watcher: Watcher,
    listener: socket.socket,
    *,
    names: Iterable[str] = (),
    password: str | None = None,
    tls: ssl.SSLContext | None = None,
    limits: Limits | None = None,
) -> "Server":
    """Shows what `watcher` knows, at `listener`, once it runs. `names`: by which browsers may know this host."""
    limits = limits or Limits()
    disconnections = Disconnections()
    site = Site(watcher, disconnections, limits.viewers, is_closing=lambda: server.should_exit)
    config = uvicorn.Config(
        Doors(site.app(), names, password, disconnections),
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
    server = Server(config, Entrance(listener, tls, limits, disconnections))
    return server


class Server(uvicorn.Server):
    """Gets its connections from an `Entrance` in place of sockets of its own."""

    def __init__(self, config: uvicorn.Config, entrance: Entrance) -> None:
        super().__init__(config)
        self._entrance = entrance
        self._tasks: list[asyncio.Task[None]] = []

    def serve_pages(self) -> None:
        """Until SIGINT or SIGTERM, or `should_exit`."""
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            self.run(sockets=[])
        self._entrance.close()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        self._tasks = [
            asyncio.create_task(_repeat(work))
            for work in (lambda: self._entrance.accept(self), self._entrance.watch)
        ]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nobody any more, and let answers end."""
        for task in self._tasks:
            task.cancel()
        await super().shutdown(sockets)


async def _repeat(work: Callable[[], Awaitable[None]]) -> None:
    """A mistake of ours that somebody has found must not close the page for all others."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("view: it goes on after an error")
            await asyncio.sleep(RETRY_S)
