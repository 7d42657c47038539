"""The health of each camera, by its own reports or its silence."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from edged.clock import NANOSECONDS
from edged.hub.events import HubEvent
from edged.hub.liveness import SILENT_NS, Liveness
from edged.messages import CameraReport, RequestCount
from edged.metrics import Metrics
from edged.metrics.catalog import DROPPED

SILENT = f"its process has sent nothing for {SILENT_NS / NANOSECONDS:g} s: it is stopped, or stuck in a driver"
SAME = "it gives the same picture again and again; switch it off and on"
STILL = (
    "nothing in its scene has changed for still_s, although its pictures differ; see whether it lives, else "
    "switch it off and on"
)


class CameraStates:
    """The state of each camera.

    `ended`: delivers no more frames. `removed`: no longer in the config; such a camera has ended, too.
    """

    def __init__(self, metrics: Metrics, liveness: Liveness) -> None:
        self._metrics = metrics
        self._liveness = liveness
        self._reports: dict[str, CameraReport] = {}
        self.reconnects: Counter[str] = Counter()
        self.ended: set[str] = set()
        self.removed: set[str] = set()
        self._replaced: set[str] = set()  # the process is about to end, and another one replaces it

    def add(self, name: str) -> None:
        """Add a camera of the config, in an unknown state."""
        self.ended.discard(name)
        self.removed.discard(name)
        self._metrics.camera_up.labels(name).set(0)
        self._metrics.camera_ended.labels(name).set(0)
        self._metrics.camera_frozen.labels(name).set(0)
        self._metrics.reconnects.labels(name).inc(0)
        for reason in DROPPED:
            self._metrics.dropped.labels(name, reason)

    def remove(self, name: str) -> None:
        """Mark a camera that is no longer in the config."""
        self.ended.add(name)
        self.removed.add(name)
        self._metrics.camera_up.remove(name)
        self._metrics.camera_ended.remove(name)
        self._metrics.camera_frozen.remove(name)

    def replace(self, name: str) -> None:
        """Expect the end of its process, which is not the end of the camera."""
        self._replaced.add(name)

    def left(self, name: str) -> None:
        """Record that the process has ended."""
        if name not in self.removed:
            self._metrics.camera_up.labels(name).set(0)
            self._metrics.camera_frozen.labels(name).set(0)
        self._liveness.camera_left(name)
        self._reports.pop(name, None)
        if name not in self.ended:
            self._reconnected(name, 1)

    def report(self, report: CameraReport) -> list[HubEvent]:
        """Apply a report of a camera; return what has changed."""
        name, before = report.camera, self._reports.get(report.camera)
        if name in self.removed:
            return []
        self._reports[name] = report
        self._liveness.camera_waits(name, report.longest_wait_s)
        self._metrics.camera_up.labels(name).set(report.up)
        self._metrics.camera_frozen.labels(name).set(report.frozen)
        back = bool(report.up and before and before.error == SILENT)  # drops of the hub, unknown to the camera
        self._count_requests(report, before)
        since = report.reconnects - (before.reconnects if before else 0)
        self._reconnected(name, max(0, since) + back)
        if report.ended and name in self._replaced:
            self._liveness.camera_left(name)
            self._replaced.discard(name)
            return []
        if report.ended:
            self._liveness.camera_left(name)
            self.ended.add(name)
            self._metrics.camera_ended.labels(name).set(1)
            return [
                HubEvent("camera_ended", f"camera {name} has ended: its source has no more frames", camera=name)
            ]
        return _changes(report, before)

    def silenced(self, names: Iterable[str]) -> list[HubEvent]:
        """Mark these cameras as silent; those that were up are down."""
        return [notice for name in names for notice in self._silence(name)]

    def is_up(self, name: str) -> bool:
        """Return whether the camera delivers frames, by its last report."""
        report = self._reports.get(name)
        return report is not None and report.up and name not in self.ended

    def is_frozen(self, name: str) -> bool:
        """Return whether the camera delivers the same picture again and again."""
        report = self._reports.get(name)
        return report is not None and report.frozen and self.is_up(name)

    def is_still(self, name: str) -> bool:
        """Return whether the camera is frozen since nothing in its scene changes, although its pictures do."""
        report = self._reports.get(name)
        return report is not None and report.still and self.is_frozen(name)

    def error(self, name: str) -> str | None:
        """Return why the camera is down, if it has reported it or is silent."""
        report = self._reports.get(name)
        return report.error if report and not report.up else None

    def why_not(self, name: str) -> str:
        """Return why the camera delivers no frames, for people; empty if unknown."""
        if name in self.ended:
            return "ended"
        error = self.error(name)
        return f"down: {error}" if error else ""

    def _count_requests(self, report: CameraReport, before: CameraReport | None) -> None:
        """Count the requests since the report before, which is of the same process."""
        if (requests := report.requests) is None:
            return
        earlier = before.requests if before and before.requests else RequestCount(late=0, refused={})
        self._metrics.serve_late.labels(report.camera).inc(max(0, requests.late - earlier.late))
        for reason, total in requests.refused.items():
            new = max(0, total - earlier.refused.get(reason, 0))
            self._metrics.serve_refused.labels(report.camera, reason).inc(new)

    def _reconnected(self, name: str, times: int) -> None:
        self.reconnects[name] += times
        self._metrics.reconnects.labels(name).inc(times)

    def _silence(self, name: str) -> list[HubEvent]:
        if name in self.removed:
            return []
        self._metrics.camera_up.labels(name).set(0)
        before = self._reports.get(name)
        if not (before and before.up):
            return []
        self._reports[name] = msgspec.structs.replace(before, up=False, error=SILENT)
        return [HubEvent("camera_down", f"camera {name} is down: {SILENT}", camera=name)]


def _changes(report: CameraReport, before: CameraReport | None) -> list[HubEvent]:
    name = report.camera
    if report.up and not (before and before.up):
        return [HubEvent("camera_up", f"camera {name} is up", camera=name)]
    if report.up and before and report.frozen != before.frozen:
        return [_frozen(report)]
    if report.error and report.error != (before.error if before else None):
        return [HubEvent("camera_down", f"camera {name} is down: {report.error}", camera=name)]
    return []


def _frozen(report: CameraReport) -> HubEvent:
    name = report.camera
    if report.frozen:
        return HubEvent(
            "camera_frozen", f"camera {name} is frozen: {STILL if report.still else SAME}", camera=name
        )
    return HubEvent("camera_unfrozen", f"camera {name} gives new pictures again", camera=name)
