"""The cameras of this hub: which ones are connected, and what each must capture."""

from collections.abc import Iterable, Mapping

from edged.config import CameraConfig
from edged.hub.cameras.health import CameraStates
from edged.hub.events import HubEvent
from edged.hub.frames.router import Router
from edged.hub.links.peers import Links, Received
from edged.hub.liveness import Liveness
from edged.hub.publish.snapshots import Snapshots
from edged.messages import (
    CameraHello,
    CameraReport,
    Capture,
    ClockRequest,
    Grant,
    ModelInfo,
    Snapshot,
    Stop,
    protocol_problem,
)
from edged.metrics import Metrics


class Cameras:
    """The hub's side of every camera's link."""

    def __init__(
        self, router: Router, links: Links, metrics: Metrics, snapshots: Snapshots, liveness: Liveness
    ) -> None:
        self._router = router
        self._snapshots = snapshots
        self._links = links
        self.model: ModelInfo | None = None  # the required size of frames; None: not known yet
        self._greeted: dict[str, CameraHello] = {}
        self._refused: set[str] = set()
        self.states = CameraStates(metrics, liveness)
        for name in router.cameras:
            self.add(name)

    def add(self, name: str) -> None:
        """Add a camera of the config, whose process will send a hello."""
        self._router.add_camera(name)
        self.states.add(name)

    def remove(self, name: str) -> None:
        """Stop a camera that the config no longer has; its frames that wait are still predicted."""
        self._links.send(f"camera/{name}", Stop())
        self.states.remove(name)

    def replace(self, name: str) -> bool:
        """Stop the process, so that another starts with the new settings; return False where it is unreachable."""
        if not self._links.send(f"camera/{name}", Stop()):
            return False
        self.states.replace(name)
        return True

    def handle_message(self, received: Received, now: int) -> list[HubEvent]:
        """Handle a message of a camera of this config that is not a frame."""
        match received.message:
            case CameraHello() as hello:
                return self._greet(hello)
            case Snapshot() as snapshot:
                self._snapshots.receive(snapshot, received.payloads, now)
            case ClockRequest() as request:
                self._links.answer_clock(received.peer, request)
            case CameraReport() as report if received.name not in self._refused:
                # a refused camera reports its own end, not that of its source
                self._router.camera_reported(report.camera, report.count)
                return self.states.report(report)
        return []

    def start_capture(self, model: ModelInfo) -> None:
        """Make all cameras capture what this model takes: connected ones now, others at their hello."""
        before, self.model = self.model, model
        if before and (before.width, before.height, before.resize) == (model.width, model.height, model.resize):
            return
        for hello in self._greeted.values():
            self._start(hello)

    def set_snapshots(self, cameras: Mapping[str, CameraConfig], changed: Iterable[str]) -> None:
        """Take over the settings of snapshots; send them to the changed cameras that are connected."""
        self._snapshots.grant(cameras)
        for name in changed:
            if name in self._greeted:
                self._start(self._greeted[name])

    def grant(self, name: str, frames: int) -> None:
        """Permit a camera that waits for room to capture so many more frames."""
        self._links.send(f"camera/{name}", Grant(frames=frames))

    def left(self, name: str) -> None:
        """Forget a camera whose process has ended."""
        self._greeted.pop(name, None)
        self.states.left(name)

    def sends_snapshots(self, name: str) -> bool:
        """Return whether a camera sends snapshots."""
        return self._snapshots.order_for(name) is not None

    def state(self, name: str) -> str:
        """Return why a camera delivers no predictions, for people."""
        if why := self.states.why_not(name):
            return why
        return "waits for its first prediction" if name in self._greeted else "is starting"

    def _greet(self, hello: CameraHello) -> list[HubEvent]:
        if reason := protocol_problem(hello):
            self._refused.add(hello.camera)
            self._links.send(f"camera/{hello.camera}", Stop(refused=reason))
            return [HubEvent("refused", f"camera {hello.camera} is refused: {reason}", camera=hello.camera)]
        self._refused.discard(hello.camera)
        self._greeted[hello.camera] = hello
        self._router.camera_started(hello)
        self._start(hello)
        return []

    def _start(self, hello: CameraHello) -> None:
        if self.model:
            model, snapshot = self.model, self._snapshots.order_for(hello.camera)
            capture = Capture(width=model.width, height=model.height, resize=model.resize, snapshot=snapshot)
            self._links.send(f"camera/{hello.camera}", capture)
