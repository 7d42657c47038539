"""Server-sent events with the newest state of a node, made once for all browsers.

Nothing is queued: a browser that is slow, or has just connected, gets the newest when it has room. Predictions
are sent as they were published.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from edged.client.node_state import CameraSummary, NodeState
from edged.messages import Prediction
from edged.messages.message import as_dict
from edged.messages.published import WHOLE, Region
from edged.view.watcher import PastMinute, Shot, Watcher
from edged.web.connections import Reason

EVENTS = 30
TICK_S = 0.1  # no event is sent more often
FIGURES_S = 1.0  # nor are figures over seconds, unless something has happened

Message = dict[str, Any]


def node_message(known: NodeState, watcher: Watcher, disconnections: Mapping[Reason, int]) -> Message:
    """Return the node as a whole. `at`: its clock now, from which the page computes ages.

    `disconnections`: peers that the view itself has disconnected or refused, by reason.
    """
    return {
        "node": known.node,
        "address": watcher.address,
        "refusal": watcher.refusal,
        "at": _rounded(known.at, 3),
        "away_s": _rounded(known.away_s, 0),
        "stale": known.stale,
        "cameras": [camera.name for camera in known.cameras],
        "workers": [{"name": name, **as_dict(worker)} for name, worker in known.workers.items()],
        "watts": {rail: _rounded(watts, 2) for rail, watts in known.watts.items()},
        "method": known.method,
        "disconnections": {reason: count for reason, count in disconnections.items() if count},
    }


def camera_message(camera: CameraSummary) -> Message:
    """Return a camera without its newest prediction."""
    return {
        "name": camera.name,
        "state": camera.state,
        "why": camera.why,
        "snapshots": camera.snapshots,
        "fps": _rounded(camera.fps, 1),
        "median_s": _rounded(camera.median_s, 5),
        "p99_s": _rounded(camera.p99_s, 5),
        "joules": _rounded(camera.joules, 5),
        "right": _rounded(camera.right, 4),
        "captured": camera.captured,
        "reconnects": camera.reconnects,
        "dropped": dict(camera.dropped),
        "dropping": {reason: rate for reason, each in camera.dropping.items() if (rate := round(each, 1))},
        "strip": camera.strip,
    }


def events_message(known: NodeState) -> list[Message]:
    """Return the last events, the newest first."""
    return [
        {"at": event.at, "event": event.event, "camera": event.camera, "message": event.message}
        for event in reversed(known.events[-EVENTS:])
    ]


def history_message(camera: str, past: Iterable[PastMinute]) -> Message:
    """Return the last hour of a camera: of each minute that is over its number since 1970, predictions, the most
    frequent label and its share, and the median from capture to publication.
    """
    minutes = [
        [each.number, each.predictions, each.label, _rounded(each.share, 3), _rounded(each.median_s, 5)]
        for each in past
    ]
    return {"camera": camera, "minutes": minutes}


def picture_message(shot: Shot, run: str) -> Message:
    """Return a picture with the labels and boxes of its own frame; they are null without a prediction.

    Boxes are those of a detector, as shares of this picture. `run`: of the view, which numbers its pictures anew.
    """
    header, prediction = shot.picture.header, shot.prediction
    top = prediction and [{"label": best.label, "score": best.score} for best in prediction.top[:1]]
    return {
        "camera": header.camera,
        "frame": header.frame,
        "captured_at": header.captured_at,
        "width": header.width,
        "height": header.height,
        "url": f"/picture/{run}/{quote(header.camera, safe='')}/{shot.number}",
        "top": top,  # its score is rounded as in a prediction
        "boxes": prediction and _boxes(prediction, header.region or WHOLE),
        "truth": prediction and prediction.truth,
    }


def _boxes(prediction: Prediction, shown: Region) -> list[Message] | None:
    """Return boxes of the camera's whole picture as shares of the part that is `shown`; None: of a classifier."""
    if prediction.boxes is None:
        return None
    left, top, right, bottom = shown
    across, down = right - left, bottom - top
    return [
        {
            "label": each.label,
            "index": each.index,
            "score": each.score,
            "box": [(a - left) / across, (b - top) / down, (c - left) / across, (d - top) / down],
            "track": each.track,
        }
        for each in prediction.boxes
        for a, b, c, d in (each.box,)
    ]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


class Feed:
    """Keeps the newest event of each kind and camera, with the version at which it last changed."""

    def __init__(
        self,
        watcher: Watcher,
        disconnections: Mapping[Reason, int] | None = None,
        *,
        number: int = 0,
        is_taught: bool = False,
    ) -> None:
        """`disconnections`: of the view's own peers, by reason; always current.

        `number`: of the node on the page, the id of its events. `is_taught`: whether the page can teach it.
        """
        self._watcher = watcher
        self._number = number
        self._is_taught = is_taught
        self._disconnections = disconnections or {}
        self._newest: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._version = 0
        self._ticked_s = self._figured_s = float("-inf")
        self._news = -1

    def refresh(self, now_s: float) -> None:
        """Update the events; may be called at any rate."""
        if now_s - self._ticked_s < 0.9 * TICK_S:  # a timer may be early
            return
        self._ticked_s = now_s
        if self._news != self._watcher.news or now_s - self._figured_s >= FIGURES_S:
            self._news, self._figured_s = self._watcher.news, now_s
            self._figures(now_s)
        for camera, prediction in self._watcher.newest().items():
            self._publish("prediction", camera, prediction)
        for camera, shot in self._watcher.current_shots(now_s).items():
            self._publish_message("picture", camera, picture_message(shot, self._watcher.run))

    def events_since(self, version: int) -> tuple[int, bytes]:
        """Return the events that have changed after `version`, and the new version."""
        return self._version, b"".join(event for at, event in self._newest.values() if at > version)

    def _figures(self, now_s: float) -> None:
        known = self._watcher.node_state(now_s)
        cameras = {camera.name: camera for camera in known.cameras}
        gone = [key for key in self._newest if key[1] and key[1] not in cameras]
        for key in gone:
            del self._newest[key]
        self._newest.pop(("node", ""), None)  # sent even if unchanged: it shows that the view is alive
        node = node_message(known, self._watcher, self._disconnections)
        self._publish_message("node", "", {**node, "is_taught": self._is_taught})
        for name, camera in cameras.items():
            self._publish_message("camera", name, camera_message(camera))
            if known.at is not None:
                self._publish_message("history", name, history_message(name, self._watcher.past(name, known.at)))
        self._publish_message("events", "", events_message(known))

    def _publish_message(self, what: str, camera: str, message: Any) -> None:
        self._publish(what, camera, json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode())

    def _publish(self, what: str, camera: str, data: bytes) -> None:
        one_line = b" ".join(data.splitlines())
        event = b"event: %s\nid: %d\ndata: %s\n\n" % (what.encode(), self._number, one_line)
        _, before = self._newest.get((what, camera), (0, b""))
        if event != before:
            self._version += 1
            self._newest[what, camera] = self._version, event
