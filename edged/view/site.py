"""The addresses of the page: itself, its events, its pictures."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from edged.view.feed import TICK_S, Feed
from edged.view.watcher import Watcher

PAGE = Path(__file__).with_name("page")
VIEWERS = 32  # browsers at once; each costs a little of the processor ten times a second


class Site:
    """Shows what `watcher` knows, until `is_closing`."""

    def __init__(self, watcher: Watcher, is_closing: Callable[[], bool]) -> None:
        self._watcher = watcher
        self._feed = Feed(watcher)
        self._is_closing = is_closing
        self._viewers = 0

    def app(self) -> Starlette:
        """What answers requests."""
        return Starlette(
            routes=[
                Route("/events", self._events),
                Route("/picture/{run}/{camera}/{number:int}", self._picture),
                Mount("/", StaticFiles(directory=PAGE, html=True)),
            ]
        )

    async def _events(self, _: Request) -> Response:
        if self._viewers >= VIEWERS:
            return PlainTextResponse(f"{VIEWERS} browsers look on already\n", 503)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._updates(), media_type="text/event-stream", headers=headers)

    async def _updates(self) -> AsyncIterator[bytes]:
        """What has changed since it was told last, as often as the browser takes it, but for `TICK_S`."""
        self._viewers += 1
        try:
            version = 0
            while not self._is_closing():
                self._feed.refresh(time.monotonic())
                version, events = self._feed.since(version)
                if events:
                    yield events
                await asyncio.sleep(TICK_S)
        finally:
            self._viewers -= 1

    async def _picture(self, request: Request) -> Response:
        run, camera, number = request.path_params.values()
        jpeg = self._watcher.jpeg(camera, number) if run == self._watcher.run else None
        if jpeg is None:
            return Response(status_code=204)  # it has gone, as newer ones are there: no mistake of the browser's
        return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "no-store"})
