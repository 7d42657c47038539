"""Serve an application by uvicorn, with connections of a `ConnectionServer`."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable

import uvicorn
from starlette.types import ASGIApp

from edged.transport.address import host_and_port, is_ipv6
from edged.web.connections import RETRY_S, ConnectionServer

BACKLOG = 128  # connections that the kernel queues until they are accepted
LAST_WORDS_S = 1  # seconds for responses in progress at the end

log = logging.getLogger("edged.web")


def bound(address: str, backlog: int = BACKLOG) -> socket.socket:
    """Return a socket that listens at host:port. Raises OSError if that is impossible."""
    family = socket.AF_INET6 if is_ipv6(address) else socket.AF_INET
    return socket.create_server(host_and_port(address), family=family, backlog=backlog)


class Server(uvicorn.Server):
    """Gets its connections from a `ConnectionServer` instead of its own sockets."""

    def __init__(self, app: ASGIApp, entrance: ConnectionServer) -> None:
        config = uvicorn.Config(
            app,
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
        super().__init__(config)
        self._entrance = entrance
        self._tasks: list[asyncio.Task[None]] = []

    def serve_requests(self) -> None:
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
    """Log an error of a request: it must not end the server for others."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("an error of a request; the server continues")
            await asyncio.sleep(RETRY_S)
