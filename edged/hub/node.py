"""The parts of a hub that hold the state of its cameras and workers, handed on as one object."""

from dataclasses import dataclass

from edged.hub.cameras.cameras import Cameras
from edged.hub.frames.router import Router
from edged.hub.links.peers import Links
from edged.hub.liveness import Liveness
from edged.hub.publish.seen_states import SeenStates
from edged.hub.stats.counters import Stats
from edged.hub.stats.summary import CameraTally, camera_line
from edged.hub.workers.group import AnyWorkerSlot
from edged.hub.workers.heads import Heads
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.messages import CameraState, WorkerIs, WorkerState
from edged.messages.published import NodeStatus


@dataclass(frozen=True, eq=False)
class Node:
    """The parts of a hub that hold the state of its cameras and workers, and reports of this state.

    name: of the config. cameras, workers, supervisor: what they have sent, and their processes. heads: taught
    versions. seen: the states of what the cameras see.
    """

    name: str
    links: Links
    liveness: Liveness
    router: Router
    stats: Stats
    heads: Heads
    cameras: Cameras
    workers: Workers
    supervisor: Supervisor
    seen: SeenStates

    @property
    def predictions(self) -> int:
        """Return how many predictions were published."""
        return self.stats.summary.predictions

    def last_frames(self) -> dict[str, int]:
        """Return the number of the newest frame of each camera that was published; -1: none was."""
        return {name: camera.last_frame for name, camera in self.stats.summary.cameras.items()}

    @property
    def is_ready(self) -> bool:
        """Return whether a worker is ready."""
        return bool(self.workers.hellos)

    def tally(self, camera: str) -> CameraTally:
        """Return the newest predictions of a camera."""
        return self.stats.summary.cameras[camera]

    def status(self) -> NodeStatus:
        """Return the state of each camera and worker. Unchecked: up to 64 cameras are reported each second."""
        return NodeStatus(
            {name: self._camera(name) for name in self._camera_names()},
            {slot.name: self._worker(slot) for slot in self.supervisor.slots},
            self.stats.energy.so_far,
        )

    def camera_lines(self, seconds: float) -> list[str]:
        """Return a line for each camera: what was published in these seconds, since the last call; or why not."""
        lines, names = [], self._camera_names()
        width = max(map(len, names), default=0)
        for name in names:
            tally, ledger = self.stats.summary.cameras[name], self.router.cameras[name].ledger
            state = self._energy() if tally.since_line else self.why_nothing(name)
            lines.append(camera_line(name, width, seconds, tally=tally, ledger=ledger, state=state))
            tally.since_line = 0
        return lines

    def in_one_line(self) -> str:
        """Return how many cameras are up, which are not, and what runs on which device."""
        cameras = self.router.cameras
        down = [name for name in cameras if not self.cameras.states.is_up(name)]
        without = f" (without {', '.join(down)})" if down else ""
        return f"{len(cameras) - len(down)} of {len(cameras)} cameras up{without}, {self._models()}"

    def _camera_names(self) -> list[str]:
        return [name for name in self.router.cameras if name not in self.cameras.states.removed]

    def _camera(self, name: str) -> CameraState:
        ledger, states = self.router.cameras[name].ledger, self.cameras.states
        present, count = self.seen.found(name)
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
            snapshots=self.cameras.sends_snapshots(name),
            state=self.seen.state(name),
            present=dict(present),
            count=dict(count),
        )

    def _worker(self, slot: AnyWorkerSlot) -> WorkerState:
        hello = self.workers.hellos.get(slot.name)
        return WorkerState(
            device=hello.device if hello else slot.device,
            state=_state(slot, ready=hello is not None, serves=slot.name in self.supervisor.serving),
            restarts=self.supervisor.losses[slot.name],
        )

    def _energy(self) -> str:
        """Return the joules of a frame; empty without a measurement, which the log explains once."""
        tally = self.stats.summary
        if tally.joules_each is None:
            return ""
        return f"{tally.joules_each:.3g} J/frame" + (" (estimated)" if tally.method == "estimated" else "")

    def why_nothing(self, name: str) -> str:
        """Return why a camera has no predictions."""
        warming_up_s = self.supervisor.warming_up_s
        if warming_up_s is not None:
            return f"worker {self.supervisor.worker} is warming up ({warming_up_s:.0f} s)"
        if not self.workers.hellos:
            return f"worker {self.supervisor.worker} is being started again"
        return self.cameras.state(name)

    def _models(self) -> str:
        running = [f"{hello.model.name} on {hello.device}" for hello in self.workers.hellos.values()]
        if running:
            return ", ".join(running)
        for_s = self.supervisor.warming_up_s
        return f"worker {self.supervisor.worker} is starting" + (f" ({for_s:.0f} s)" if for_s else "")


def _state(slot: AnyWorkerSlot, *, ready: bool, serves: bool) -> WorkerIs:
    if ready:
        return "serving" if serves else "standby"
    if slot.warming_up_s is not None:
        return "starting"
    return "off" if slot.rests else "down"
