"""The cameras of this hub: which ones are connected, what each must capture, and the processes of its own ones."""

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping

from edged.clock import now_ns
from edged.config import CameraConfig
from edged.hub.cameras.answers import FrameAnswers
from edged.hub.cameras.health import CameraStates
from edged.hub.children.child import Child, when
from edged.hub.events import HubEvent
from edged.hub.frames.router import Router
from edged.hub.links.peers import Links
from edged.hub.links.received import Received
from edged.hub.liveness import Liveness
from edged.hub.publish.publisher import Snapshots
from edged.messages import (
    CameraHello,
    CameraReport,
    Capture,
    ClockRequest,
    Grant,
    Hold,
    ModelInfo,
    Snapshot,
    Stop,
    protocol_problem,
)
from edged.metrics import Metrics
from edged.system.process_end import describe_exit


class Cameras:
    """The hub's side of every camera's link."""

    def __init__(
        self,
        router: Router,
        links: Links,
        metrics: Metrics,
        snapshots: Snapshots,
        liveness: Liveness,
        answers: FrameAnswers,
    ) -> None:
        self.answers = answers
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

    def hold(self, name: str, until_ns: int) -> None:
        """Have a camera of this host drop its pictures unprepared until then; 0: prepare them all again."""
        self._links.send(f"camera/{name}", Hold(until_ns=until_ns))

    def left(self, name: str) -> None:
        """Forget a camera whose process has ended."""
        self._greeted.pop(name, None)
        self._router.camera_left(name)
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
        self.answers.camera_started(hello)
        self._start(hello)
        return []

    def _start(self, hello: CameraHello) -> None:
        if self.model:
            model, snapshot = self.model, self._snapshots.order_for(hello.camera)
            capture = Capture(width=model.width, height=model.height, resize=model.resize, snapshot=snapshot)
            self._links.send(f"camera/{hello.camera}", capture)


class CameraProcesses:
    """Starts, reaps and restarts camera processes.

    A camera of another host has none here: requests for it do nothing.
    """

    def __init__(self, names: Iterable[str], new_child: Callable[[str], Child]) -> None:
        """`new_child`: creates the process of a camera, due but not yet started."""
        self._new_child = new_child
        self._children = {name: new_child(name) for name in names}
        self._ended: set[str] = set()
        self._killed: dict[str, str] = {}  # why the hub has killed it

    @property
    def running(self) -> dict[str, Child]:
        """Return the running processes by camera."""
        return {name: child for name, child in self._children.items() if child.running}

    def next_due_ns(self) -> int | None:
        """Return when `step` must be called."""
        steps = (child.next_step_ns for child in self._children.values())
        return min((at for at in steps if at is not None), default=None)

    def has_ended(self, name: str) -> None:
        """Record that the camera's source has ended: the process exits, and is not restarted."""
        self._ended.add(name)
        if child := self._children.get(name):
            child.due_ns = None  # its exit may be seen before its last report is read

    def add(self, name: str) -> None:
        """Add a camera's process, or a new one after the one that is about to end."""
        self._ended.discard(name)
        if name not in self._children:
            self._children[name] = self._new_child(name)
        elif not self._children[name].running:
            self._children[name].due_ns = now_ns()

    def kill(self, name: str, what: str = "hung") -> None:
        """Kill a process; `step` reports its end, with the reason `what`."""
        if child := self._children.get(name):
            self._killed[name] = what
            child.signal(signal.SIGKILL)

    def step(self, now: int) -> list[HubEvent]:
        """Reap ended processes, kill stopped ones, start those that are due."""
        notices = list(self._lost())
        for name, child in self._children.items():
            if child.has_stood_still(now):
                self.kill(name, "was stopped by a signal")
        for child in self._children.values():
            child.start_if_due(now)
        return notices

    def _lost(self) -> Iterator[HubEvent]:
        for name, child in self._children.items():
            code = child.exit_code()
            if code is None or name in self._ended:
                continue
            wait_s = child.start_again()
            if code == 0:  # its source has probably ended, and its last report is still to be read
                continue
            killed = self._killed.pop(name, "")
            what = f"{killed} and was killed" if killed else describe_exit(code)
            message = f"camera process {name} {what}; it starts again {when(wait_s)}"
            yield HubEvent("camera_lost", message, camera=name)
