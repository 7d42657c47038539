"""What a subscriber knows at one moment, as values. `msgspec.json.encode` converts them to JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from edged.messages import EnergyMethod, Event, Prediction, WorkerState

CameraIs = Literal["down", "frozen", "stale", "starting", "up", "ended"]
WORST_FIRST: tuple[CameraIs, ...] = ("down", "frozen", "stale", "starting", "up", "ended")
LATE_S = 3.0


@dataclass(frozen=True, slots=True)
class CameraSummary:
    """One camera. What is not known is None, 0 or empty.

    `state`: `stale` if no status came for 3 s. `why` it is so, for people; empty while it is up.
    `last`: its newest prediction. `age_s`: of that frame, now.
    Of the last 10 s: `fps`, `median_s` and `p99_s` from capture to publication, `joules` a prediction.
    `dropped`, `dropping`: frames by reason, in all and a second.
    Of the last minute: `right`, the share of right answers; `strip`, the most frequent label of each second.
    `snapshots`: whether small pictures of it are published.
    `sees`: its state, if `states` of the config names it; `present`, `count`: those of a detector, by name.
    """

    name: str
    state: CameraIs
    why: str = ""
    last: Prediction | None = None
    age_s: float | None = None
    fps: float = 0.0
    median_s: float | None = None
    p99_s: float | None = None
    joules: float | None = None
    right: float | None = None
    captured: int = 0
    predicted: int = 0
    reconnects: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropping: Mapping[str, float] = field(default_factory=dict)
    strip: tuple[str | None, ...] = ()
    snapshots: bool = False
    sees: str | None = None
    present: Mapping[str, bool] = field(default_factory=dict)
    count: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_late(self) -> bool:
        """Return whether its newest picture is old, or missing."""
        return self.age_s is None or self.age_s > LATE_S


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node.

    `at`: what its clock shows now, in seconds since 1970. `away_s`: since its last status; None before any.
    `stale`: the values are out of date: no status came for 3 s, or none at all.
    `watts`: by rail, of the last 10 s, as far as `method` says that they are known.
    """

    node: str | None
    boot: str | None
    at: float | None
    away_s: float | None
    stale: bool
    cameras: tuple[CameraSummary, ...]
    workers: Mapping[str, WorkerState]
    watts: Mapping[str, float]
    method: EnergyMethod
    events: tuple[Event, ...]


def worst_first(cameras: Iterable[CameraSummary]) -> list[CameraSummary]:
    """Sort cameras that need attention first; each kind keeps the given order."""
    return sorted(cameras, key=lambda camera: (WORST_FIRST.index(camera.state), not camera.is_late))
