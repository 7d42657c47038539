"""What cameras say, and what they are told."""

from collections import Counter
from collections.abc import Iterable, Mapping

from edged.clock import NANOSECONDS, now_ns, wall_s
from edged.hub.link import Received, protocol_problem
from edged.hub.links import Links
from edged.hub.notice import Notice
from edged.hub.router import Router
from edged.hub.slot import Held
from edged.hub.snapshots import Snapshots
from edged.hub.vigil import SILENT_NS, Vigil
from edged.messages import (
    CameraHello,
    CameraReport,
    Capture,
    ClockAnswer,
    ClockRequest,
    Frame,
    Grant,
    ModelInfo,
    Snapshot,
    Stop,
)
from edged.metrics import Metrics
from edged.metrics.reasons import DROPPED

SILENT = f"its process has said nothing for {SILENT_NS / NANOSECONDS:g} s: it is stopped, or stuck in a driver"


class Cameras:
    """The hub's side of every camera's link."""

    def __init__(self, router: Router, links: Links, metrics: Metrics, snapshots: Snapshots) -> None:
        self._router = router
        self._snapshots = snapshots
        self._links = links
        self._metrics = metrics
        self._captured_at: dict[str, float] = {}  # the newest frame of each, in seconds since 1970
        self._model: ModelInfo | None = None
        self._greeted: dict[str, CameraHello] = {}
        self._vigil = Vigil()
        self._reports: dict[str, CameraReport] = {}
        self.reconnects: Counter[str] = Counter()
        self.ended: set[str] = set()
        self.removed: set[str] = set()
        self._replaced: set[str] = set()  # the process is to end, and another one to take its place
        for name in router.cameras:
            self.add(name)

    def add(self, name: str) -> None:
        """One more camera of the config; its process will say hello."""
        self._router.add_camera(name)
        self.ended.discard(name)
        self.removed.discard(name)
        self._metrics.camera_up.labels(name).set(0)
        self._metrics.camera_frozen.labels(name).set(0)
        self._metrics.reconnects.labels(name).inc(0)
        for reason in DROPPED:
            self._metrics.dropped.labels(name, reason)

    def remove(self, name: str) -> None:
        """The config has it no more: what is under way is still predicted."""
        self._links.send(f"camera/{name}", Stop())
        self.ended.add(name)
        self.removed.add(name)
        self._metrics.camera_up.remove(name)
        self._metrics.camera_frozen.remove(name)

    def replace(self, name: str) -> bool:
        """Let the process end and another one come, with the new settings; False where it cannot be told."""
        if not self._links.send(f"camera/{name}", Stop()):
            return False
        self._replaced.add(name)
        return True

    def take(self, received: Received, now: int) -> list[Notice]:
        """A message from a camera. One that is not of this config is refused."""
        kind, _, name = received.peer.partition("/")
        message = received.message
        if kind != "camera" or name not in self._router.cameras or getattr(message, "camera", name) != name:
            self._links.send(received.peer, Stop(refused=f"this hub's config has no camera {name}"))
            return []
        self._vigil.heard(name, now)
        match message:
            case CameraHello():
                return self._greet(message)
            case Frame():
                self._frame(message, received, now)
            case Snapshot():
                self._snapshots.take(message, received.payloads, now)
            case ClockRequest(sent_ns=sent_ns):
                self._links.send(received.peer, ClockAnswer(sent_ns=sent_ns, hub_ns=now_ns(), hub_at=wall_s()))
            case CameraReport():
                return self._report(message)
        return []

    def start_capture(self, model: ModelInfo) -> None:
        """It is known now what the model wants: tell the cameras that have said hello, and all that will."""
        if self._model:
            return
        self._model = model
        for hello in self._greeted.values():
            self._start(hello)

    def ask_for_snapshots(self, names: Iterable[str]) -> None:
        """Tell those of them that have said hello what is wanted now; the others will hear it then."""
        for name in names:
            if name in self._greeted:
                self._start(self._greeted[name])

    def grant(self) -> None:
        """Let the cameras that wait for it capture what there is room for."""
        for name, frames in self._router.grants().items():
            self._links.send(f"camera/{name}", Grant(frames=frames))

    def left(self, name: str) -> None:
        """The process has ended."""
        if name not in self.removed:
            self._metrics.camera_up.labels(name).set(0)
            self._metrics.camera_frozen.labels(name).set(0)
        self._vigil.left(name)
        self._greeted.pop(name, None)
        self._reports.pop(name, None)
        if name not in self.ended:
            self._reconnected(name, 1)

    def fallen_silent(self, now: int) -> list[str]:
        """The cameras that say nothing any more: each once, until it speaks again."""
        return self._vigil.fallen_silent(now)

    def silenced(self, names: Iterable[str]) -> list[Notice]:
        """Those of them that were up are down."""
        return [notice for name in names for notice in self._silence(name)]

    def hung(self, now: int, started_ns: Mapping[str, int]) -> list[str]:
        """The running processes, given by the time of their start, that will hardly speak again: kill them."""
        return self._vigil.hung(now, started_ns)

    def next_silence_ns(self) -> int | None:
        """When `fallen_silent` may have something to say."""
        return self._vigil.next_ns()

    def count(self) -> None:
        """Bring the metrics of the newest frames up to date."""
        for name, at in self._captured_at.items():
            self._metrics.last_frame.labels(name).set(at)

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

    def sends_snapshots(self, name: str) -> bool:
        """Whether it is asked for them."""
        return self._snapshots.wish(name) is not None

    def state(self, name: str) -> str:
        """Why a camera gives no predictions, for people."""
        report = self._reports.get(name)
        if name in self.ended:
            return "ended"
        if report and not report.up and report.error:
            return f"down: {report.error}"
        return "waits for its first prediction" if name in self._greeted else "is starting"

    def _greet(self, hello: CameraHello) -> list[Notice]:
        if reason := protocol_problem(hello.protocol):
            self._links.send(f"camera/{hello.camera}", Stop(refused=reason))
            return [Notice("refused", f"camera {hello.camera} is refused: {reason}", camera=hello.camera)]
        self._greeted[hello.camera] = hello
        self._router.camera_started(hello)
        self._start(hello)
        return []

    def _start(self, hello: CameraHello) -> None:
        if self._model:
            wish = self._snapshots.wish(hello.camera)
            capture = Capture(width=self._model.width, height=self._model.height, snapshot=wish)
            self._links.send(f"camera/{hello.camera}", capture)

    def _frame(self, frame: Frame, received: Received, now: int) -> None:
        wanted = self._model
        size = frame.width * frame.height * 3
        fits = len(received.payloads) == 1 and len(received.payloads[0].buffer) == size
        if not (fits and wanted and (frame.width, frame.height) == (wanted.width, wanted.height)):
            self._router.frame_unusable(frame.camera, frame.count)
            return
        self._captured_at[frame.camera] = frame.captured_at
        if frame.clock_error_s and frame.captured_ns > now:  # it cannot come before it was captured
            frame = frame.model_copy(update={"captured_ns": now})
        self._router.frame_arrived(Held(frame, received.payloads[0]), now)

    def _report(self, report: CameraReport) -> list[Notice]:
        name, before = report.camera, self._reports.get(report.camera)
        self._router.camera_reported(name, report.count)
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
            return [Notice("camera_ended", f"camera {name} has come to its end", camera=name)]
        return _changes(report, before)

    def _reconnected(self, name: str, times: int) -> None:
        self.reconnects[name] += times
        self._metrics.reconnects.labels(name).inc(times)

    def _silence(self, name: str) -> list[Notice]:
        if name in self.removed:
            return []
        self._metrics.camera_up.labels(name).set(0)
        before = self._reports.get(name)
        if not (before and before.up):
            return []
        self._reports[name] = before.model_copy(update={"up": False, "error": SILENT})
        return [Notice("camera_down", f"camera {name} is down: {SILENT}", camera=name)]


def _changes(report: CameraReport, before: CameraReport | None) -> list[Notice]:
    name = report.camera
    if report.up and not (before and before.up):
        return [Notice("camera_up", f"camera {name} gives frames", camera=name)]
    if report.up and before and report.frozen != before.frozen:
        return [_frozen(report)]
    if report.error and report.error != (before.error if before else None):
        return [Notice("camera_down", f"camera {name} is down: {report.error}", camera=name)]
    return []


def _frozen(report: CameraReport) -> Notice:
    name = report.camera
    if report.frozen:
        what = "is frozen: it gives the same picture again and again; switch it off and on"
        return Notice("camera_frozen", f"camera {name} {what}", camera=name)
    return Notice("camera_moves", f"camera {name} gives new pictures again", camera=name)
