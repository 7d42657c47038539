"""What the page is told, as values for JSON. A prediction goes to it as it was published."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from edged.client.known import CameraKnown, Known
from edged.messages import Label
from edged.view.disconnections import Reason
from edged.view.shots import Shot
from edged.view.watcher import Watcher

EVENTS = 30

Message = dict[str, Any]


def node_message(known: Known, watcher: Watcher, disconnections: Mapping[Reason, int]) -> Message:
    """The node as a whole. `at`: its clock now, by which the page tells ages.

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
        "workers": [{"name": name, **worker.model_dump()} for name, worker in known.workers.items()],
        "watts": {rail: _rounded(watts, 2) for rail, watts in known.watts.items()},
        "method": known.method,
        "disconnections": {reason: count for reason, count in disconnections.items() if count},
    }


def camera_message(camera: CameraKnown) -> Message:
    """A camera but for its newest prediction."""
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


def events_message(known: Known) -> list[Message]:
    """The last events, the newest first."""
    return [
        {"at": event.at, "event": event.event, "camera": event.camera, "message": event.message}
        for event in reversed(known.events[-EVENTS:])
    ]


def picture_message(shot: Shot, run: str) -> Message:
    """A picture with the labels of its own frame; `top` is null where nothing was predicted from it.

    `run`: of the view, whose shots are numbered anew.
    """
    header, prediction = shot.picture.header, shot.prediction
    return {
        "camera": header.camera,
        "frame": header.frame,
        "captured_at": header.captured_at,
        "width": header.width,
        "height": header.height,
        "url": f"/picture/{run}/{quote(header.camera, safe='')}/{shot.number}",
        "top": None if prediction is None else [_label(label) for label in prediction.top[:1]],
        "truth": prediction and prediction.truth,
    }


def _label(label: Label) -> Message:
    return {"label": label.label, "score": label.score}  # as in a prediction, so that both are rounded alike


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
