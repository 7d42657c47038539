"""Serves the page."""

import asyncio
import contextlib
import socket
import ssl

import uvicorn

from edged.address import host_and_port, is_ipv6
from edged.view.doors import Doors
from edged.view.site import Site
from edged.view.watcher import Watcher

CONNECTIONS = 128  # at once
LAST_WORDS_S = 1  # for answers that are under way at the end


def bound(address: str) -> socket.socket:
    """A socket that listens at host:port. Raises OSError where that cannot be."""
    family = socket.AF_INET6 if is_ipv6(address) else socket.AF_INET
    return socket.create_server(host_and_port(address), family=family, backlog=CONNECTIONS)


def serve(
    watcher: Watcher,
    listener: socket.socket,
    *,
    names: list[str],
    password: str | None = None,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Until SIGINT or SIGTERM."""
    site = Site(watcher, is_closing=lambda: server.should_exit)
    config = uvicorn.Config(
        Doors(site.app(), names, password),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=LAST_WORDS_S,
    )
    config.load()
    config.ssl = tls
    server = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        server.run(sockets=[listener])
