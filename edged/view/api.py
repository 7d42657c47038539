"""What other programs get of the view: `/api/state`, and the newest snapshot of a camera at `/CAMERA.jpg`."""

import time
from collections.abc import Iterable, Sequence
from email.utils import formatdate
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from edged import __version__
from edged.client.node_state import CameraSummary, NodeState
from edged.messages.published import answers_of
from edged.view.watcher import Watcher

NO_STORE = {"cache-control": "no-store"}


class ApiSite:
    """The routes for programs. Their answers are documented in docs/how-to/view.md: fields may only be added."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)

    def routes(self) -> list[Route]:
        return [
            Route("/api/state", self._state),
            Route("/{camera}.jpg", self._snapshot),
            Route("/{node}/{camera}.jpg", self._snapshot),
        ]

    async def _state(self, _: Request) -> Response:
        now_s = time.monotonic()
        nodes = [_node(watcher.node_state(now_s), watcher.address) for watcher in self._watchers]
        return JSONResponse({"version": __version__, "nodes": nodes}, headers=NO_STORE)

    async def _snapshot(self, request: Request) -> Response:
        """Answer with the newest snapshot of a camera, of the first node that has one of this name."""
        node, name, now_s = request.path_params.get("node"), request.path_params["camera"], time.monotonic()
        states = {watcher: watcher.node_state(now_s) for watcher in self._watchers}
        asked = {watcher: each for watcher, each in states.items() if node in {None, each.node}}
        for watcher, known in asked.items():
            if camera := next((each for each in known.cameras if each.name == name), None):
                return _snapshot_of(watcher, known, camera)
        if silent := [watcher.address for watcher, each in states.items() if each.node is None]:
            return _refused(503, f"nothing was received from {', '.join(silent)} yet: is `edged run` up there?")
        if not asked:
            return _refused(
                404, f"there is no node {node}; there are: {_names(each.node for each in states.values())}"
            )
        cameras = (camera.name for known in asked.values() for camera in known.cameras)
        return _refused(404, f"there is no camera {name}; there are: {_names(cameras)}")


def _names(there: Iterable[str | None]) -> str:
    return ", ".join(name for name in there if name) or "none"


def _snapshot_of(watcher: Watcher, node: NodeState, camera: CameraSummary) -> Response:
    picture = watcher.newest_picture(camera.name)
    if picture is None and not camera.snapshots:
        return _refused(
            404,
            f"camera {camera.name} publishes no snapshots: put `snapshot: {{}}` under cameras.{camera.name} in "
            "the config, then run `edged reload`",
        )
    if picture is None:
        return _refused(503, f"camera {camera.name} has published no snapshot yet")
    captured_at = picture.header.captured_at
    age_s = max(0.0, (node.at or captured_at) - captured_at)
    headers = {"last-modified": formatdate(captured_at, usegmt=True), "age": f"{age_s:.0f}", **NO_STORE}
    return Response(picture.jpeg, media_type="image/jpeg", headers=headers)


def _refused(status: int, why: str) -> Response:
    again = {"retry-after": "1"} if status == 503 else {}
    return PlainTextResponse(f"{why}\n", status, {**NO_STORE, **again})


def _node(known: NodeState, address: str) -> dict[str, Any]:
    return {
        "node": known.node,
        "address": address,
        "stale": known.stale,
        "at": known.at and round(known.at, 3),
        "cameras": [_camera(camera) for camera in known.cameras],
    }


def _camera(camera: CameraSummary) -> dict[str, Any]:
    best = next(iter(answers_of(camera.last)), None) if camera.last else None
    return {
        "camera": camera.name,
        "state": camera.state,
        "why": camera.why,
        "sees": camera.sees,
        "present": camera.present,
        "count": camera.count,
        "label": best and best.label,
        "score": best and best.score,
        "fps": round(camera.fps, 1),
        "age_s": None if camera.age_s is None else round(camera.age_s, 3),
        "has_snapshots": camera.snapshots,
    }
