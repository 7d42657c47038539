"""The health of each camera: what it reports, and whether it still reports anything.

A camera process that was stopped by a signal is killed as soon as it is silent: it cannot be busy. Any other may
be busy with a slow network camera, a driver or a disk, and has longer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from edged.clock import NANOSECONDS
from edged.hub.events import HubEvent
from edged.messages import CameraReport
from edged.metrics import Metrics
from edged.metrics.reasons import DROPPED

SILENT_NS = 5 * NANOSECONDS // 2  # a camera speaks each second, and a read that gives nothing takes 2 s
HUNG_NS = 10 * NANOSECONDS  # opening a network camera may take 7 s
STARTING_NS = 30 * NANOSECONDS  # from an SD card that is busy; twice as long after each start in vain
LONGEST_START = 16


class HeartbeatMonitor:
    """When each camera was heard last. Times are nanoseconds of one monotonic clock, given by the caller."""

    def __init__(self) -> None:
        self._heard_ns: dict[str, int] = {}
        self._silent: set[str] = set()
        self._look_ns: int | None = (
            None  # before this nobody can have fallen silent: no need to look at all each turn
        )
        self._patience: dict[str, int] = {}  # how many times STARTING_NS a start may take

    def heard(self, name: str, now_ns: int) -> None:
        """It has said something."""
        self._heard_ns[name] = now_ns
        self._silent.discard(name)
        self._patience.pop(name, None)
        if self._look_ns is None:
            self._look_ns = now_ns + SILENT_NS

    def stood_still(self, paused_ns: int) -> None:
        """The hub itself could hear nobody for so long: that is no silence of theirs."""
        self._heard_ns = {name: heard + paused_ns for name, heard in self._heard_ns.items()}
        if self._look_ns is not None:
            self._look_ns += paused_ns

    def left(self, name: str) -> None:
        """Its process has ended: nothing is expected of it."""
        if self._heard_ns.pop(name, None) is None:
            self._patience[name] = min(2 * self._patience.get(name, 1), LONGEST_START)
        self._silent.discard(name)

    def newly_silent(self, now_ns: int) -> list[str]:
        """The cameras that have said nothing for `SILENT_NS`; each is told once, until it is heard again."""
        if self._look_ns is None or now_ns < self._look_ns:
            return []
        speaking = {name: heard for name, heard in self._heard_ns.items() if name not in self._silent}
        news = [name for name, heard in speaking.items() if now_ns - heard >= SILENT_NS]
        self._silent.update(news)
        self._look_ns = min((speaking[name] + SILENT_NS for name in speaking.keys() - news), default=None)
        return news

    def hung(self, now_ns: int, started_ns: Mapping[str, int]) -> list[str]:
        """Those of the running processes, by the time of their start, that are to be killed."""
        return [name for name, started in started_ns.items() if now_ns >= self._hangs_ns(name, started)]

    def next_ns(self) -> int | None:
        """When `newly_silent` is to be asked next; it may have nothing to say."""
        return self._look_ns

    def _hangs_ns(self, name: str, started_ns: int) -> int:
        heard_ns = self._heard_ns.get(name, 0)
        return (
            heard_ns + HUNG_NS if heard_ns > started_ns else started_ns + self._patience.get(name, 1) * STARTING_NS
        )


SILENT = f"its process has said nothing for {SILENT_NS / NANOSECONDS:g} s: it is stopped, or stuck in a driver"


class CameraStates:
    """`ended`: gives no more frames. `removed`: the config has it no more; such a camera has ended, too."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._vigil = HeartbeatMonitor()
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

    def heard(self, name: str, now: int) -> None:
        """It has said something."""
        self._vigil.heard(name, now)

    def stood_still(self, paused_ns: int) -> None:
        """The hub itself could hear nobody for so long."""
        self._vigil.stood_still(paused_ns)

    def left(self, name: str) -> None:
        """The process has ended."""
        if name not in self.removed:
            self._metrics.camera_up.labels(name).set(0)
            self._metrics.camera_frozen.labels(name).set(0)
        self._vigil.left(name)
        self._reports.pop(name, None)
        if name not in self.ended:
            self._reconnected(name, 1)

    def report(self, report: CameraReport) -> list[HubEvent]:
        """Its own word."""
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
            self._vigil.left(name)
            self._replaced.discard(name)
            return []
        if report.ended:
            self._vigil.left(name)
            self.ended.add(name)
            return [HubEvent("camera_ended", f"camera {name} has come to its end", camera=name)]
        return _changes(report, before)

    def newly_silent(self, now: int) -> list[str]:
        """The cameras that say nothing any more: each once, until it speaks again."""
        return self._vigil.newly_silent(now)

    def silenced(self, names: Iterable[str]) -> list[HubEvent]:
        """Those of them that were up are down."""
        return [notice for name in names for notice in self._silence(name)]

    def hung(self, now: int, started_ns: Mapping[str, int]) -> list[str]:
        """The running processes, given by the time of their start, that will hardly speak again: kill them."""
        return self._vigil.hung(now, started_ns)

    def next_silence_ns(self) -> int | None:
        """When `newly_silent` may have something to say."""
        return self._vigil.next_ns()

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
