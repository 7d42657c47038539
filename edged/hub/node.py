"""The state of each camera and worker of this hub, for those that report it: status, terminal, systemd."""

from edged.hub.cameras.cameras import Cameras
from edged.hub.frames.router import Router
from edged.hub.publish.seen_states import SeenStates
from edged.hub.stats.counters import Stats
from edged.hub.stats.summary import CameraTally, camera_line
from edged.hub.workers.failover import AnyWorkerSlot
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.messages import CameraState, WorkerIs, WorkerState
from edged.messages.published import NodeStatus


class Node:
    """Says how the cameras and workers are. It changes none of them."""

    def __init__(
        self,
        router: Router,
        cameras: Cameras,
        workers: Workers,
        supervisor: Supervisor,
        stats: Stats,
        seen: SeenStates,
    ) -> None:
        self._router = router
        self._cameras = cameras
        self._workers = workers
        self._supervisor = supervisor
        self._stats = stats
        self._seen = seen

    @property
    def predictions(self) -> int:
        """Return how many predictions were published."""
        return self._stats.summary.predictions

    def last_frames(self) -> dict[str, int]:
        """Return the number of the newest frame of each camera that was published; -1: none was."""
        return {name: camera.last_frame for name, camera in self._stats.summary.cameras.items()}

    @property
    def is_ready(self) -> bool:
        """Return whether a worker is ready."""
        return bool(self._workers.hellos)

    def tally(self, camera: str) -> CameraTally:
        """Return the newest predictions of a camera."""
        return self._stats.summary.cameras[camera]

    def status(self) -> NodeStatus:
        """Return the state of each camera and worker. Unchecked: up to 64 cameras are reported each second."""
        return NodeStatus(
            {name: self._camera(name) for name in self._camera_names()},
            {seat.name: self._worker(seat) for seat in self._supervisor.seats},
            self._stats.energy.so_far,
        )

    def camera_lines(self, seconds: float) -> list[str]:
        """Return a line for each camera: what was published in these seconds, since the last call; or why not."""
        lines, names = [], self._camera_names()
        width = max(map(len, names), default=0)
        for name in names:
            tally, ledger = self._stats.summary.cameras[name], self._router.cameras[name].ledger
            state = self._energy() if tally.since_line else self.why_nothing(name)
            lines.append(camera_line(name, width, seconds, tally=tally, ledger=ledger, state=state))
            tally.since_line = 0
        return lines

    def in_one_line(self) -> str:
        """Return how many cameras are up, which are not, and what runs on which device."""
        cameras = self._router.cameras
        down = [name for name in cameras if not self._cameras.states.is_up(name)]
        without = f" (without {', '.join(down)})" if down else ""
        return f"{len(cameras) - len(down)} of {len(cameras)} cameras up{without}, {self._models()}"

    def _camera_names(self) -> list[str]:
        return [name for name in self._router.cameras if name not in self._cameras.states.removed]

    def _camera(self, name: str) -> CameraState:
        ledger, states = self._router.cameras[name].ledger, self._cameras.states
        return CameraState(
            up=states.is_up(name),
            frozen=states.is_frozen(name),
            still=states.is_still(name),
            ended=name in states.ended,
            error=states.error(name),
            captured=ledger.captured,
            predicted=ledger.predicted,
            dropped={reason: frames for reason, frames in ledger.dropped.items() if frames},
            reconnects=states.reconnects[name],
            snapshots=self._cameras.sends_snapshots(name),
            state=self._seen.state(name),
        )

    def _worker(self, seat: AnyWorkerSlot) -> WorkerState:
        hello = self._workers.hellos.get(seat.name)
        return WorkerState(
            device=hello.device if hello else seat.device,
            state=_state(seat, ready=hello is not None, serves=seat.name in self._supervisor.serving),
            restarts=self._supervisor.losses[seat.name],
        )

    def _energy(self) -> str:
        """Return the joules of a frame; empty without a measurement, which the log explains once."""
        tally = self._stats.summary
        if tally.joules_each is None:
            return ""
        return f"{tally.joules_each:.3g} J/frame" + (" (estimated)" if tally.method == "estimated" else "")

    def why_nothing(self, name: str) -> str:
        """Return why a camera has no predictions."""
        warming_up_s = self._supervisor.warming_up_s
        if warming_up_s is not None:
            return f"worker {self._supervisor.worker} is warming up ({warming_up_s:.0f} s)"
        if not self._workers.hellos:
            return f"worker {self._supervisor.worker} is being started again"
        return self._cameras.state(name)

    def _models(self) -> str:
        running = [f"{hello.model.name} on {hello.device}" for hello in self._workers.hellos.values()]
        if running:
            return ", ".join(running)
        for_s = self._supervisor.warming_up_s
        return f"worker {self._supervisor.worker} is starting" + (f" ({for_s:.0f} s)" if for_s else "")


def _state(seat: AnyWorkerSlot, *, ready: bool, serves: bool) -> WorkerIs:
    if ready:
        return "serving" if serves else "standby"
    if seat.warming_up_s is not None:
        return "starting"
    return "off" if seat.rests else "down"
