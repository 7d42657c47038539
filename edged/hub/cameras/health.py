"""The health of each camera, as it reports it itself or as its silence says."""

from collections import Counter
from collections.abc import Iterable

from edged.clock import NANOSECONDS
from edged.hub.events import HubEvent
from edged.hub.liveness import SILENT_NS, Liveness
from edged.messages import CameraReport
from edged.metrics import Metrics
from edged.metrics.reasons import DROPPED

SILENT = f"its process has said nothing for {SILENT_NS / NANOSECONDS:g} s: it is stopped, or stuck in a driver"


class CameraStates:
    """`ended`: gives no more frames. `removed`: the config has it no more; such a camera has ended, too."""

    def __init__(self, metrics: Metrics, liveness: Liveness) -> None:
        self._metrics = metrics
        self._liveness = liveness
        self._reports: dict[str, CameraReport] = {}
        self.reconnects: Counter[str] = Counter()
        self.ended: set[str] = set()
        self.removed: set[str] = set()
        self._replaced: set[str] = set()  # the process is to end, and another one to take its place

    def add(self, name: str) -> None:
        """One more camera of the config, of which nothing is known yet."""
        self.ended.discard(name)
        self.removed.discard(name)
        self._metrics.camera_up.labels(name).set(0)
        self._metrics.camera_frozen.labels(name).set(0)
        self._metrics.reconnects.labels(name).inc(0)
        for reason in DROPPED:
            self._metrics.dropped.labels(name, reason)

    def remove(self, name: str) -> None:
        """The config has it no more."""
        self.ended.add(name)
        self.removed.add(name)
        self._metrics.camera_up.remove(name)
        self._metrics.camera_frozen.remove(name)

    def replace(self, name: str) -> None:
        """Its process is to end, and that is not the end of the camera."""
        self._replaced.add(name)

    def left(self, name: str) -> None:
        """The process has ended."""
        if name not in self.removed:
            self._metrics.camera_up.labels(name).set(0)
            self._metrics.camera_frozen.labels(name).set(0)
        self._liveness.camera_left(name)
        self._reports.pop(name, None)
        if name not in self.ended:
            self._reconnected(name, 1)

    def report(self, report: CameraReport) -> list[HubEvent]:
        """Take in a report of a camera; return what has changed."""
        name, before = report.camera, self._reports.get(report.camera)
        if name in self.removed:
            return []
        self._reports[name] = report
        self._metrics.camera_up.labels(name).set(report.up)
        self._metrics.camera_frozen.labels(name).set(report.frozen)
        back = bool(report.up and before and before.error == SILENT)  # of which the camera knows nothing
        since = report.reconnects - (before.reconnects if before else 0)
        self._reconnected(name, max(0, since) + back)
        if report.ended and name in self._replaced:
            self._liveness.camera_left(name)
            self._replaced.discard(name)
            return []
        if report.ended:
            self._liveness.camera_left(name)
            self.ended.add(name)
            return [HubEvent("camera_ended", f"camera {name} has come to its end", camera=name)]
        return _changes(report, before)

    def silenced(self, names: Iterable[str]) -> list[HubEvent]:
        """Those of them that were up are down."""
        return [notice for name in names for notice in self._silence(name)]

    def is_up(self, name: str) -> bool:
        """Whether it gives frames, by its own last word."""
        report = self._reports.get(name)
        return report is not None and report.up and name not in self.ended

    def is_frozen(self, name: str) -> bool:
        """Whether it gives the same picture again and again."""
        report = self._reports.get(name)
        return report is not None and report.frozen and self.is_up(name)

    def error(self, name: str) -> str | None:
        """Why it is down, where it has said so, or is silent."""
        report = self._reports.get(name)
        return report.error if report and not report.up else None

    def why_not(self, name: str) -> str:
        """Why it gives no frames, for people; empty where nothing is known."""
        if name in self.ended:
            return "ended"
        error = self.error(name)
        return f"down: {error}" if error else ""

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
        self._reports[name] = before.model_copy(update={"up": False, "error": SILENT})
        return [HubEvent("camera_down", f"camera {name} is down: {SILENT}", camera=name)]


def _changes(report: CameraReport, before: CameraReport | None) -> list[HubEvent]:
    name = report.camera
    if report.up and not (before and before.up):
        return [HubEvent("camera_up", f"camera {name} gives frames", camera=name)]
    if report.up and before and report.frozen != before.frozen:
        return [_frozen(report)]
    if report.error and report.error != (before.error if before else None):
        return [HubEvent("camera_down", f"camera {name} is down: {report.error}", camera=name)]
    return []


def _frozen(report: CameraReport) -> HubEvent:
    name = report.camera
    if report.frozen:
        what = "is frozen: it gives the same picture again and again; switch it off and on"
        return HubEvent("camera_frozen", f"camera {name} {what}", camera=name)
    return HubEvent("camera_unfrozen", f"camera {name} gives new pictures again", camera=name)
