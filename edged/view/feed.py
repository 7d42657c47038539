"""The newest of everything as server-sent events, made once for all browsers.

Nothing is queued: a browser that is slow, or has just come, gets what is newest when it has room for it.
"""

import json
from collections.abc import Mapping
from typing import Any

from edged.view.disconnections import Reason
from edged.view.messages import camera_message, events_message, node_message, picture_message
from edged.view.watcher import Watcher

TICK_S = 0.1  # nothing is told more often
FIGURES_S = 1.0  # nor what is counted over seconds, unless something has happened


class Feed:
    """Keeps an event for each thing that there is to tell, with the version in which it has changed last."""

    def __init__(self, watcher: Watcher, disconnections: Mapping[Reason, int] | None = None) -> None:
        """`disconnections`: of the view's own peers, by reason; as it is at each moment."""
        self._watcher = watcher
        self._disconnections = disconnections or {}
        self._told: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._version = 0
        self._ticked_s = self._figured_s = float("-inf")
        self._news = -1

    def refresh(self, now_s: float) -> None:
        """Bring it up to date; as often as anybody likes."""
        if now_s - self._ticked_s < 0.9 * TICK_S:  # a timer may be early
            return
        self._ticked_s = now_s
        if self._news != self._watcher.news or now_s - self._figured_s >= FIGURES_S:
            self._news, self._figured_s = self._watcher.news, now_s
            self._figures(now_s)
        for camera, prediction in self._watcher.newest().items():
            self._tell("prediction", camera, prediction)
        for camera, shot in self._watcher.shots(now_s).items():
            self._tell_message("picture", camera, picture_message(shot, self._watcher.run))

    def since(self, version: int) -> tuple[int, bytes]:
        """The events that have changed after `version`, and the version that they lead to."""
        return self._version, b"".join(event for at, event in self._told.values() if at > version)

    def _figures(self, now_s: float) -> None:
        known = self._watcher.known(now_s)
        cameras = {camera.name: camera for camera in known.cameras}
        gone = [key for key in self._told if key[1] and key[1] not in cameras]
        for key in gone:
            del self._told[key]
        self._told.pop(("node", ""), None)  # sent though nothing changed: the browser sees that the view is there
        self._tell_message("node", "", node_message(known, self._watcher, self._disconnections))
        for name, camera in cameras.items():
            self._tell_message("camera", name, camera_message(camera))
        self._tell_message("events", "", events_message(known))

    def _tell_message(self, what: str, camera: str, message: Any) -> None:
        self._tell(what, camera, json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode())

    def _tell(self, what: str, camera: str, data: bytes) -> None:
        event = b"event: %s\ndata: %s\n\n" % (what.encode(), b" ".join(data.splitlines()))
        _, before = self._told.get((what, camera), (0, b""))
        if event != before:
            self._version += 1
            self._told[what, camera] = self._version, event
