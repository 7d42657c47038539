"""What is known of a node as lines of `key=value`, one a camera: for logs and programs."""

import json
import time
from collections.abc import Iterator

from edged.client.known import CameraKnown, Known
from edged.printable import printable


def lines(known: Known) -> Iterator[str]:
    """A line for each camera. What is not known is left empty; text that may hold anything is in quotes."""
    at = "" if known.at is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(known.at))
    for camera in known.cameras:
        fields = {"at": at, "node": printable(known.node or ""), **_fields(camera)}
        yield " ".join(f"{key}={value}" for key, value in fields.items())


def _fields(camera: CameraKnown) -> dict[str, str]:
    best = camera.last.top[0] if camera.last and camera.last.top else None
    return {
        "camera": printable(camera.name),
        "state": camera.state,
        "fps": f"{camera.fps:.1f}",
        "label": _quoted(best.label) if best else "",
        "score": _number(best.score if best else None, 4),
        "age_s": _number(camera.age_s, 3),
        "p50_s": _number(camera.median_s, 4),
        "p99_s": _number(camera.p99_s, 4),
        "captured": str(camera.captured),
        "dropped": str(sum(camera.dropped.values())),
        "joules": _number(camera.joules, 4),
        "right": _number(camera.right, 4),
        "why": _quoted(camera.why) if camera.why else "",
    }


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _quoted(text: str) -> str:
    return json.dumps(printable(text), ensure_ascii=False)
