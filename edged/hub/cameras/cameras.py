"""What cameras say, and what they are told."""

from collections.abc import Iterable

from edged.clock import now_ns, wall_s
from edged.hub.cameras.health import CameraStates
from edged.hub.events import HubEvent
from edged.hub.frames.queues import Held
from edged.hub.frames.router import Router
from edged.hub.links.peers import Links, Received
from edged.hub.publish.snapshots import Snapshots
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
    protocol_problem,
)
from edged.metrics import Metrics


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
        self._refused: set[str] = set()
        self.states = CameraStates(metrics)
        for name in router.cameras:
            self.add(name)

    def add(self, name: str) -> None:
        """One more camera of the config; its process will say hello."""
        self._router.add_camera(name)
        self.states.add(name)

    def remove(self, name: str) -> None:
        """The config has it no more: what is under way is still predicted."""
        self._links.send(f"camera/{name}", Stop())
        self.states.remove(name)

    def replace(self, name: str) -> bool:
        """Let the process end and another one come, with the new settings; False where it cannot be told."""
        if not self._links.send(f"camera/{name}", Stop()):
            return False
        self.states.replace(name)
        return True

    def take(self, received: Received, now: int) -> list[HubEvent]:
        """A message from a camera. One that is not of this config is refused."""
        kind, _, name = received.peer.partition("/")
        message = received.message
        if kind != "camera" or name not in self._router.cameras or getattr(message, "camera", name) != name:
            self._links.send(received.peer, Stop(refused=f"this hub's config has no camera {name}"))
            return []
        self.states.heard(name, now)
        match message:
            case CameraHello():
                return self._greet(message)
            case Frame():
                self._frame(message, received, now)
            case Snapshot():
                self._snapshots.take(message, received.payloads, now)
            case ClockRequest(sent_ns=sent_ns):
                self._links.send(received.peer, ClockAnswer(sent_ns=sent_ns, hub_ns=now_ns(), hub_at=wall_s()))
            case CameraReport() if name not in self._refused:  # it says that it ends, not that its source does
                self._router.camera_reported(name, message.count)
                return self.states.report(message)
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
        self._greeted.pop(name, None)
        self.states.left(name)

    def count(self) -> None:
        """Bring the metrics of the newest frames up to date."""
        for name, at in self._captured_at.items():
            self._metrics.last_frame.labels(name).set(at)

    def sends_snapshots(self, name: str) -> bool:
        """Whether it is asked for them."""
        return self._snapshots.wish(name) is not None

    def state(self, name: str) -> str:
        """Why a camera gives no predictions, for people."""
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
        if self._model:
            wish = self._snapshots.wish(hello.camera)
            model = self._model
            capture = Capture(width=model.width, height=model.height, resize=model.resize, snapshot=wish)
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
