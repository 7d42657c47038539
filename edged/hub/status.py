"""The state of each camera and worker, for the published status and for the terminal."""

import textwrap
from collections.abc import Callable

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.config import Config, Publish
from edged.hub.cameras.cameras import Cameras
from edged.hub.frames.router import Router
from edged.hub.stats.summary import camera_line
from edged.hub.wiring import Components
from edged.hub.workers.failover import AnyWorkerSlot
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.messages import CameraState, WorkerIs, WorkerState
from edged.messages.status import NodeStatus


def standing(router: Router, cameras: Cameras, supervisor: Supervisor, workers: Workers) -> NodeStatus:
    """As it is now. Unchecked, as 64 cameras are told of each second: it is the hub's own word."""
    return NodeStatus(
        {name: _camera(name, router, cameras) for name in router.cameras if name not in cameras.states.removed},
        {seat.name: _worker(seat, supervisor, workers) for seat in supervisor.seats},
        workers.answers.energy,
    )


def _camera(name: str, router: Router, cameras: Cameras) -> CameraState:
    ledger = router.cameras[name].ledger
    return CameraState.model_construct(
        up=cameras.states.is_up(name),
        frozen=cameras.states.is_frozen(name),
        ended=name in cameras.states.ended,
        error=cameras.states.error(name),
        captured=ledger.captured,
        predicted=ledger.predicted,
        dropped={reason: frames for reason, frames in ledger.dropped.items() if frames},
        reconnects=cameras.states.reconnects[name],
        snapshots=cameras.sends_snapshots(name),
    )


def _worker(seat: AnyWorkerSlot, supervisor: Supervisor, workers: Workers) -> WorkerState:
    hello = workers.hellos.get(seat.name)
    return WorkerState.model_construct(
        device=hello.device if hello else seat.device,
        state=_state(seat, ready=hello is not None, serves=seat.name in supervisor.serving),
        restarts=supervisor.losses[seat.name],
    )


def _state(seat: AnyWorkerSlot, *, ready: bool, serves: bool) -> WorkerIs:
    if ready:
        return "serving" if serves else "standby"
    if seat.warming_up_s is not None:
        return "starting"
    return "off" if seat.rests else "down"


WHY_COLUMNS = 30  # the log and the summary have all of it


def places(config: Config) -> list[str]:
    """Lines that say where the stream, the metrics and the page of a daemon are."""
    address = config.publish.address
    argument = "" if address == Publish().address else f" {address}"
    scheme = "https" if config.metrics.tls else "http"
    return [
        f"stream   {address} (edged subscribe{argument})",
        f"metrics  {scheme}://{config.metrics.address}/metrics",
        f"page     edged view{argument}" + (" (in a checkout: make view)" if not argument else ""),
    ]


class Display:
    """Lines for people."""

    def __init__(self, parts: Components, show: Callable[[str], None], every_s: float) -> None:
        self._parts = parts
        self._show = show
        self._every_ns = nanoseconds(every_s)
        self._shown_ns = now_ns()

    def lines(self, now: int) -> None:
        """Show a line for each camera, where it is time: the hub asks once a second."""
        if now - self._shown_ns < self._every_ns:
            return
        seconds = (now - self._shown_ns) / NANOSECONDS
        cameras = self._parts.router.cameras
        names = [name for name in cameras if name not in self._parts.cameras.states.removed]
        width = max(map(len, names), default=0)
        for name in names:
            tally = self._parts.tally.cameras[name]
            state = self._energy() if tally.since_line else self._why_nothing(name)
            self._show(camera_line(name, width, seconds, tally=tally, ledger=cameras[name].ledger, state=state))
            tally.since_line = 0
        self._shown_ns = now

    def _energy(self) -> str:
        tally = self._parts.tally
        if tally.joules_each is None:
            why = textwrap.shorten(self._parts.workers.energy_note or "not measured", WHY_COLUMNS, placeholder="…")
            return f"no joules: {why}"
        return f"{tally.joules_each:.3g} J a frame" + (" (estimated)" if tally.method == "estimated" else "")

    def _why_nothing(self, name: str) -> str:
        warming_up_s = self._parts.supervisor.warming_up_s
        if warming_up_s is not None:
            return f"worker {self._parts.supervisor.worker} is warming up ({warming_up_s:.0f} s)"
        if not self._parts.workers.hellos:
            return f"worker {self._parts.supervisor.worker} is being started again"
        return self._parts.cameras.state(name)
