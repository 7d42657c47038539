"""Serve the page: its routes, events and pictures."""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from edged.view.access import AccessControl
from edged.view.api import ApiSite
from edged.view.feed import TICK_S, Feed
from edged.view.teach_jobs import TeachJobs
from edged.view.teaching import Teachers, TeachingSite
from edged.view.watcher import Watcher
from edged.web.connections import ConnectionServer, Disconnections
from edged.web.limits import ConnectionLimits, displaced_by, network_of
from edged.web.server import Server

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
                Route("/picture/{run}/{camera}/{number}", self._picture),
                *(self._teaching.routes() if self._teaching else []),
                *ApiSite(list(self._watchers.values())).routes(),
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


def view_server(
    watchers: Sequence[Watcher],
    listener: socket.socket,
    *,
    names: Iterable[str] = (),
    password: str | None = None,
    tls: ssl.SSLContext | None = None,
    limits: ConnectionLimits | None = None,
    teaching: tuple[Teachers, TeachJobs] | None = None,
) -> Server:
    """Return a server that shows the nodes of `watchers` at `listener`.

    `names`: accepted names of this host. `teaching`: who may teach the first node, and its jobs.
    """
    limits = limits or ConnectionLimits()
    disconnections = Disconnections("view")
    teach = TeachingSite(*teaching, disconnections) if teaching else None
    site = ViewSite(watchers, disconnections, limits.viewers, lambda: server.should_exit, teach)
    app = AccessControl(site.app(), names, password, disconnections)
    server = Server(app, ConnectionServer(listener, tls, limits, disconnections))
    return server
