"""The state of each camera and worker, for the published status and for the terminal."""

import textwrap
from collections.abc import Callable

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.config import Config, PublishConfig
from edged.hub.cameras.cameras import Cameras
from edged.hub.frames.router import Router
from edged.hub.journal.journal import Journal
from edged.hub.pipeline import Publication
from edged.hub.publish.publisher import Publisher
from edged.hub.stats.counters import Stats
from edged.hub.stats.summary import Tally, camera_line
from edged.hub.workers.failover import AnyWorkerSlot
from edged.hub.workers.supervisor import Supervisor
from edged.hub.workers.workers import Workers
from edged.messages import CameraState, EnergySoFar, WorkerIs, WorkerState
from edged.messages.status import NodeStatus
from edged.metrics import Metrics


def node_status(
    router: Router, cameras: Cameras, supervisor: Supervisor, workers: Workers, energy: EnergySoFar
) -> NodeStatus:
    """Return the state of each camera and worker now. Unchecked: up to 64 cameras are reported each second."""
    return NodeStatus(
        {name: _camera(name, router, cameras) for name in router.cameras if name not in cameras.states.removed},
        {seat.name: _worker(seat, supervisor, workers) for seat in supervisor.seats},
        energy,
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


class StatusReport:
    """Publishes the status of the node, and what becomes of its journal."""

    def __init__(
        self,
        publication: Publication,
        publisher: Publisher,
        router: Router,
        cameras: Cameras,
        workers: Workers,
        supervisor: Supervisor,
        stats: Stats,
        journal: Journal,
        metrics: Metrics,
    ) -> None:
        self._publication = publication
        self._publisher = publisher
        self._router = router
        self._cameras = cameras
        self._workers = workers
        self._supervisor = supervisor
        self._stats = stats
        self._journal = journal
        self._metrics = metrics

    def publish(self) -> None:
        """Publish that this node is alive, what it has published last, and how it is."""
        self.report_journal()
        last_frames = {name: camera.last_frame for name, camera in self._stats.summary.cameras.items()}
        status = node_status(
            self._router, self._cameras, self._supervisor, self._workers, self._stats.energy.so_far
        )
        self._publisher.status(self._publication.first_seq, self._publication.next_seq - 1, last_frames, status)

    def report_journal(self) -> None:
        """Announce what has happened to the journal, and show its size in the metrics."""
        for event in self._journal.notices():
            self._publication.announce(event)
        self._metrics.journal_bytes.set(self._journal.bytes())
        self._metrics.journal_aside.set(self._journal.bytes_aside())
        self._metrics.journal_limit.set(self._journal.limit_bytes)
        self._metrics.journal_disk_free.set(self._journal.disk_free_bytes)


WHY_COLUMNS = 30  # the log and the summary have all of it


def places(config: Config) -> list[str]:
    """Lines that say where the stream, the metrics and the page of a daemon are."""
    address = config.publish.address
    argument = "" if address == PublishConfig().address else f" {address}"
    scheme = "https" if config.metrics.tls else "http"
    return [
        f"stream   {address} (edged subscribe{argument})",
        f"metrics  {scheme}://{config.metrics.address}/metrics",
        f"page     edged view{argument}" + (" (in a checkout: make view)" if not argument else ""),
    ]


class Display:
    """Shows a line for each camera."""

    def __init__(
        self,
        router: Router,
        cameras: Cameras,
        workers: Workers,
        supervisor: Supervisor,
        summary: Tally,
        show: Callable[[str], None],
        every_s: float,
    ) -> None:
        self._router = router
        self._cameras = cameras
        self._workers = workers
        self._supervisor = supervisor
        self._summary = summary
        self._show = show
        self._every_ns = nanoseconds(every_s)
        self._shown_ns = now_ns()

    def show_if_due(self, now: int) -> None:
        """Show a line for each camera, if it is time."""
        if now - self._shown_ns < self._every_ns:
            return
        seconds = (now - self._shown_ns) / NANOSECONDS
        cameras = self._router.cameras
        names = [name for name in cameras if name not in self._cameras.states.removed]
        width = max(map(len, names), default=0)
        for name in names:
            tally = self._summary.cameras[name]
            state = self._energy() if tally.since_line else self._why_nothing(name)
            self._show(camera_line(name, width, seconds, tally=tally, ledger=cameras[name].ledger, state=state))
            tally.since_line = 0
        self._shown_ns = now

    def _energy(self) -> str:
        tally = self._summary
        if tally.joules_each is None:
            why = textwrap.shorten(self._workers.energy_note or "not measured", WHY_COLUMNS, placeholder="…")
            return f"no joules: {why}"
        return f"{tally.joules_each:.3g} J a frame" + (" (estimated)" if tally.method == "estimated" else "")

    def _why_nothing(self, name: str) -> str:
        warming_up_s = self._supervisor.warming_up_s
        if warming_up_s is not None:
            return f"worker {self._supervisor.worker} is warming up ({warming_up_s:.0f} s)"
        if not self._workers.hellos:
            return f"worker {self._supervisor.worker} is being started again"
        return self._cameras.state(name)
