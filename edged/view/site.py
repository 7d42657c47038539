"""The addresses of the page: itself, its events, its pictures."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from edged.view.disconnections import Disconnections
from edged.view.feed import TICK_S, Feed
from edged.view.guests import displaced_by, network_of
from edged.view.watcher import Watcher

PAGE = Path(__file__).with_name("page")


@dataclass(eq=False, slots=True)
class Viewer:
    """A browser that gets the events. `worth`: see `Guest`."""

    host: str
    worth: tuple[int, float]
    is_displaced: bool = False


class Site:
    """Shows what `watcher` knows, until `is_closing`."""

    def __init__(
        self, watcher: Watcher, disconnections: Disconnections, viewers: int, is_closing: Callable[[], bool]
    ) -> None:
        """`viewers`: streams of events at once."""
        self._watcher = watcher
        self._feed = Feed(watcher, disconnections.totals)
        self._disconnections = disconnections
        self._is_closing = is_closing
        self._most = viewers
        self._viewers: set[Viewer] = set()

    def app(self) -> Starlette:
        """What answers requests."""
        return Starlette(
            routes=[
                Route("/events", self._events),
                Route("/picture/{run}/{camera}/{number:int}", self._picture),
                Mount("/", StaticFiles(directory=PAGE, html=True)),
            ]
        )

    async def _events(self, request: Request) -> Response:
        viewer = self._viewer(network_of(request.client.host if request.client else ""))
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._updates(viewer), media_type="text/event-stream", headers=headers)

    def _viewer(self, host: str) -> Viewer:
        """One more; where all places are taken, another one's stream ends."""
        displaced = displaced_by(host, self._viewers, self._most, self._most)
        if displaced:
            displaced.is_displaced = True
            self._viewers.discard(displaced)
            self._disconnections.add("too_many", displaced.host)
        return Viewer(host, (0, time.monotonic()))

    async def _updates(self, viewer: Viewer) -> AsyncIterator[bytes]:
        """What has changed since it was told last, as often as the browser takes it, but for `TICK_S`."""
        self._viewers.add(viewer)
        try:
            version = 0
            while not (self._is_closing() or viewer.is_displaced):
                self._feed.refresh(time.monotonic())
                version, events = self._feed.since(version)
                if events:
                    yield events
                await asyncio.sleep(TICK_S)
        finally:
            self._viewers.discard(viewer)

    async def _picture(self, request: Request) -> Response:
        run, camera, number = request.path_params.values()
        jpeg = self._watcher.jpeg(camera, number) if run == self._watcher.run else None
        if jpeg is None:
            return Response(status_code=204)  # it has gone, as newer ones are there: no mistake of the browser's
        return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "no-store"})
