"""The hub: one thread, one poller, over the link, replay requests, signals and timers."""

import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zmq

from edged import __version__
from edged.clock import NANOSECONDS, now_ns
from edged.config import Config
from edged.errors import ConfigError
from edged.hub.cameras import Cameras
from edged.hub.display import Display
from edged.hub.journal import Journal
from edged.hub.link import Link, Received
from edged.hub.notice import Notice
from edged.hub.outlet import Outlet
from edged.hub.publisher import Publisher
from edged.hub.replay import Replay
from edged.hub.report import summary
from edged.hub.router import Router
from edged.hub.shutdown import stop_children
from edged.hub.signals import Signals
from edged.hub.sockets import unusable
from edged.hub.supervisor import EDGED, Supervisor
from edged.hub.tally import Tally
from edged.hub.workers import Workers
from edged.metrics import Metrics, serve
from edged.paths import private_runtime_directory, state_directory

TICK_NS = NANOSECONDS
MESSAGES_A_TURN = 256  # then timers have their turn, even under a flood


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run ends by itself: after so many predictions, or so long after the first worker was ready.

    Between two status lines of a camera are at least `line_every_s` seconds, and no less than about one.
    """

    predictions: int | None = None
    seconds: float | None = None
    line_every_s: float = 0.0


def run_hub(
    config: Config,
    path: Path,
    limits: Limits,
    *,
    show: Callable[[str], None],
    program: Sequence[str] = EDGED,
) -> dict[str, Any]:
    """Run the pipeline of `config`, read from `path`, until it ends, a limit is reached or a signal comes.

    `show` gets the status lines; `program` runs cameras and workers. Returns the summary.
    Raises EdgedError; no child is left in any case.
    """
    with ExitStack() as resources:
        signals = resources.enter_context(Signals())
        hub = Hub(config, path, limits, show=show, program=program, signals=signals, resources=resources)
        try:
            hub.run()
        finally:
            hub.stop()
        return hub.summary()


class Hub:
    """Sockets, parts and the loop."""

    def __init__(
        self,
        config: Config,
        path: Path,
        limits: Limits,
        *,
        show: Callable[[str], None],
        program: Sequence[str],
        signals: Signals,
        resources: ExitStack,
    ) -> None:
        self._limits = limits
        self._signals = signals
        self._metrics = Metrics(__version__)
        freshness, publish = config.freshness, config.publish
        self._router = Router(
            config.cameras,
            keep=freshness.keep,
            max_age_ns=round(freshness.max_age_s * NANOSECONDS),
            deadline_ns=round(freshness.deadline_s * NANOSECONDS),
        )
        journal_path = config.journal.path or state_directory() / config.node / "journal.sqlite"
        journal = Journal(journal_path, config.journal.max_predictions)
        resources.callback(journal.close)
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        resources.callback(context.destroy, linger=0)
        publisher = Publisher(context, config.node, publish.address, publish.replay)
        self._replay = Replay(context, publish.replay, journal)
        _serve_metrics(self._metrics, config.metrics.address, resources)
        address = resources.enter_context(_private_address())
        self._link = Link(context, address)
        self._tally = Tally(list(config.cameras))
        self._outlet = Outlet(config.node, publisher, journal, self._metrics, self._tally)
        self._cameras = Cameras(self._router, self._link, self._metrics)
        self._workers = Workers(
            self._router,
            self._link,
            self._outlet,
            self._metrics,
            node=config.node,
            top=publish.top,
            may_publish=lambda: not self._has_enough(),
        )
        self._supervisor = Supervisor(config, path, address, program)
        self._display = Display(
            show=show,
            tally=self._tally,
            router=self._router,
            cameras=self._cameras,
            workers=self._workers,
            supervisor=self._supervisor,
            every_s=limits.line_every_s,
        )
        self._first_ready_ns: int | None = None
        self._next_tick_ns = now_ns() + TICK_NS
        self._supervise_ns = now_ns()
        if journal.set_aside:
            message = f"the journal was damaged: it is now {journal.set_aside}, and a new one begins"
            self._outlet.announce(Notice("journal_set_aside", message))

    def run(self) -> None:
        """Until the end. Raises EdgedError where there is no going on."""
        poller = zmq.Poller()
        for readable in (self._link.socket, self._replay.socket, self._signals.fileno()):
            poller.register(readable, zmq.POLLIN)
        while not self._is_over():
            ready = dict(poller.poll(self._wait_ms()))
            drained = self._listen()
            if self._workers.assign():
                self._supervisor.kill_worker("unreachable")  # most likely it is dead already
            self._cameras.grant()
            if self._replay.socket in ready:
                self._replay.serve_one()
            now = now_ns()
            if drained:  # else an answer may lie in the queue behind what has been read
                self._kill_who_hangs(now)
            if self._signals.fileno() in ready or now >= self._supervise_ns:
                self._supervise(now)
            if now >= self._next_tick_ns:
                self._tick(now)

    def stop(self) -> None:
        """Stop every child; what waits or is in flight is dropped as `shutdown`."""
        self._router.give_up_all("shutdown")
        stop_children(self._supervisor.children, self._link, self._signals, self._take_last)
        self._count()

    def summary(self) -> dict[str, Any]:
        """What this run has done."""
        ledgers = {name: camera.ledger for name, camera in self._router.cameras.items()}
        return summary(ledgers, self._tally, self._workers.energy_note)

    def _listen(self) -> bool:
        """Take in what cameras and workers have said; False where there may be more."""
        for _ in range(MESSAGES_A_TURN):
            received = self._link.receive()
            if received is None:
                return True
            for notice in self._take(received):
                self._happened(notice)
        return False

    def _take(self, received: Received) -> list[Notice]:
        if received.peer.startswith("worker/"):
            return self._workers.take(received)
        return self._cameras.take(received, now_ns())

    def _take_last(self, received: Received) -> None:
        """A message after the end: frames are counted, answers come too late."""
        if received.peer.startswith("camera/"):
            self._cameras.take(received, now_ns())
            self._router.give_up_all("shutdown")

    def _happened(self, notice: Notice) -> None:
        self._outlet.announce(notice)
        if notice.event == "worker_up" and self._workers.first:
            self._supervisor.worker_is_ready()
            self._first_ready_ns = self._first_ready_ns or now_ns()
            self._cameras.start_capture(self._workers.first.model)
        if notice.event == "camera_ended" and notice.camera:
            self._supervisor.camera_has_ended(notice.camera)
        if notice.event == "job_failed" and notice.reason == "device_error":
            self._supervisor.kill_worker(notice.reason)

    def _lost(self, notice: Notice) -> None:
        """A child has ended that should not have."""
        self._outlet.announce(notice)
        if notice.event == "worker_lost" and notice.worker:
            self._workers.left(notice.worker, "worker_lost")
            self._metrics.worker_restarts.labels(notice.worker, notice.reason).inc()
        if notice.event == "camera_lost" and notice.camera:
            self._cameras.left(notice.camera)

    def _kill_who_hangs(self, now: int) -> None:
        for assigned in self._router.overdue(now):
            self._router.give_up(assigned.job, "deadline")
            self._workers.left(assigned.worker, "worker_lost")
            self._supervisor.kill_worker("deadline")
            break  # its other jobs are lost with it
        for name in self._cameras.silent(now):
            self._supervisor.kill_camera(name)

    def _supervise(self, now: int) -> None:
        """After a signal (a child may have ended), when a child is to be started, and each second to be sure."""
        self._signals.clear()
        for notice in self._supervisor.step(now):
            self._lost(notice)
        due_ns = self._supervisor.next_due_ns()
        self._supervise_ns = min(now + TICK_NS, now + TICK_NS if due_ns is None else due_ns)

    def _tick(self, now: int) -> None:
        self._next_tick_ns = max(self._next_tick_ns + TICK_NS, now)
        self._outlet.status()
        self._count()
        self._display.lines(now)

    def _count(self) -> None:
        for name, camera in self._router.cameras.items():
            ledger = camera.ledger
            self._metrics.count_frames(name, ledger.captured, ledger.dropped, ledger.pending)

    def _wait_ms(self) -> int:
        times = (self._next_tick_ns, self._router.next_deadline_ns(), self._supervise_ns)
        first = min(at for at in times if at is not None)
        return max(0, math.ceil((first - now_ns()) / 1e6))

    def _has_enough(self) -> bool:
        return self._limits.predictions is not None and self._tally.predictions >= self._limits.predictions

    def _is_over(self) -> bool:
        cameras_ended = self._cameras.ended >= self._router.cameras.keys() and self._router.idle
        return bool(self._signals.stops) or self._has_enough() or cameras_ended or self._time_is_up()

    def _time_is_up(self) -> bool:
        if self._limits.seconds is None or self._first_ready_ns is None:
            return False
        return now_ns() - self._first_ready_ns >= self._limits.seconds * NANOSECONDS


def _serve_metrics(metrics: Metrics, address: str, resources: ExitStack) -> None:
    host, _, port = address.rpartition(":")
    try:
        server = serve(metrics, host, int(port))
    except OSError as error:
        raise ConfigError(unusable("metrics.address", address, error.errno, error.strerror)) from None
    resources.callback(server.server_close)
    resources.callback(server.shutdown)


@contextmanager
def _private_address() -> Iterator[str]:
    """An ipc:// address that this user alone can reach."""
    directory = private_runtime_directory()
    try:
        yield f"ipc://{directory}/hub"
    finally:
        shutil.rmtree(directory, ignore_errors=True)
