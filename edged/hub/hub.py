"""The hub's main loop: one thread, one poller, over links, signals and timers."""

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import zmq

from edged.clock import NANOSECONDS, now_ns
from edged.config import Config
from edged.hub.children.shutdown import stop_children
from edged.hub.control import ControlRequests
from edged.hub.events import HubEvent
from edged.hub.links.peers import Received
from edged.hub.links.sockets import allow_many_descriptors
from edged.hub.pause import Pause
from edged.hub.refusals import Refusals
from edged.hub.reload import Reload
from edged.hub.signals import Signals
from edged.hub.stats.summary import summary
from edged.hub.status import Display, places, standing
from edged.hub.systemd_service import Service
from edged.hub.wiring import Components, Limits, build_components
from edged.hub.workers.supervisor import EDGED
from edged.system import systemd
from edged.tracing import note_message

AT_LEAST_EVERY_NS = NANOSECONDS


class Hanging:
    """Looks for them, once all that they have said was read: else an answer may lie in the queue behind it."""

    def __init__(self, parts: Components, service: Service, now: int) -> None:
        self._parts = parts
        self._service = service
        self.next_ns = now  # when a camera may have fallen silent

    def kill(self, now: int) -> list[HubEvent]:
        """A worker with a job beyond its deadline, and cameras that stand still."""
        if self._parts.router.has_suspect(now):
            self._parts.supervisor.suspect_worker(now)
        self._kill_worker(now)
        return self._kill_cameras(now) if now >= self.next_ns else []

    def _kill_worker(self, now: int) -> None:
        for assigned in self._parts.router.overdue(now):
            self._parts.router.give_up(assigned.job, "deadline", now)
            self._parts.workers.left(assigned.worker, "worker_lost")
            self._parts.supervisor.kill_worker(assigned.worker, "deadline")
            break  # its other jobs are lost with it

    def _kill_cameras(self, now: int) -> list[HubEvent]:
        states, supervised = self._parts.cameras.states, self._parts.supervisor.cameras
        silent = states.newly_silent(now)
        notices = states.silenced(silent)
        for name in states.hung(now, self._parts.supervisor.cameras_started_ns):
            self._service.camera_hangs(name)
            supervised.kill(name)
        silence_ns, latest_ns = states.next_silence_ns(), now + AT_LEAST_EVERY_NS
        self.next_ns = latest_ns if silence_ns is None else min(latest_ns, silence_ns)
        return notices


TICK_NS = NANOSECONDS
SETTLE_MS = 20  # until what was handed over to be sent is counted, where nothing else happens
MESSAGES_A_TURN = 256  # then timers have their turn, even under a flood

log = logging.getLogger("edged.hub")


def run_hub(
    config: Config,
    path: Path,
    limits: Limits,
    *,
    show: Callable[[str], None],
    line_every_s: float = 0.0,
    program: Sequence[str] = EDGED,
) -> dict[str, Any]:
    """Run the pipeline of `config`, read from `path`, until it ends, a limit is reached or a signal comes.

    `show` gets the lines that say where the stream, the metrics and the page are, then the status lines, each
    second or every `line_every_s`; `program` runs cameras and workers.
    Returns the summary. Raises EdgedError; no child is left in any case.
    """
    allow_many_descriptors()
    with ExitStack() as resources:
        signals = resources.enter_context(Signals())
        parts = build_components(config, limits, program=program, resources=resources)
        for line in places(config):
            show(line)
        hub = Hub(parts, limits, signals, Display(parts, show, line_every_s), Reload(parts, config, path))
        try:
            hub.run()
        finally:
            hub.stop()
        return hub.summary()


class Hub:
    """The loop, and what it remembers from turn to turn."""

    def __init__(
        self, parts: Components, limits: Limits, signals: Signals, display: Display, reload: Reload
    ) -> None:
        self._parts = parts
        self._limits = limits
        self._signals = signals
        self._display = display
        self._service = Service(parts)
        self._hanging = Hanging(parts, self._service, now_ns())
        self._asked = ControlRequests(parts, self._service, reload)
        self._refusals = Refusals()
        self._first_ready_ns: int | None = None
        self._next_tick_ns = now_ns() + TICK_NS
        self._supervise_ns = now_ns()
        self._pause = Pause()

    def run(self) -> None:
        """Until the end. Raises EdgedError where there is no going on."""
        poller = zmq.Poller()
        moments = self._parts.moments
        for readable in (*self._parts.links.sockets, self._signals.fileno(), moments.fileno()):
            poller.register(readable, zmq.POLLIN)
        self._serve_scrapes()
        while not self._is_over():
            wait_ms = self._wait_ms()
            self._notice_pause()
            self._pause.sleeps(wait_ms)
            ready = dict(poller.poll(wait_ms))
            self._notice_pause()
            drained = self._listen()
            self._parts.outlet.flush()
            self._parts.outlet.settle()
            for name in self._parts.workers.assign():
                self._parts.supervisor.kill_worker(name)  # most likely it is dead already
            self._parts.cameras.grant()
            now = now_ns()
            for refusal in self._parts.links.refusals():
                self._happened(refusal.notice())
            if drained:
                for notice in self._hanging.kill(now):
                    self._happened(notice)
            if self._signals.fileno() in ready or now >= self._supervise_ns:
                self._supervise(now)
            if now >= self._next_tick_ns:
                self._tick(now)
            for notice in self._asked.step(now):
                self._happened(notice)
            if moments.is_wanted:
                self._serve_scrapes()

    def stop(self) -> None:
        """Stop every child; what waits or is in flight is dropped as `shutdown`."""
        systemd.stopping()
        self._parts.outlet.flush()
        self._asked.close()
        self._parts.links.shut()
        self._parts.router.give_up_all("shutdown")
        stop_children(self._parts.supervisor.children, self._parts.links, self._signals, self._take_last)
        self._parts.supervisor.close()
        self._parts.outlet.tell_of_the_journal()
        self._parts.outlet.close()
        self._count()
        self._parts.moments.stop_serving()

    def _serve_scrapes(self) -> None:
        """With all that has been counted until now, and nothing that comes after."""
        self._count()
        self._parts.moments.serve()

    def summary(self) -> dict[str, Any]:
        """What this run has done."""
        ledgers = {name: camera.ledger for name, camera in self._parts.router.cameras.items()}
        return summary(ledgers, self._parts.tally, self._parts.workers.energy_note)

    def _listen(self) -> bool:
        """Take in what cameras and workers have said; False where there may be more."""
        for _ in range(MESSAGES_A_TURN):
            received = self._parts.links.receive()
            if received is None:
                return True
            for notice in self._take(received):
                self._happened(notice)
        return False

    def _take(self, received: Received) -> list[HubEvent]:
        notices = self._asked.take(received)
        if notices is not None:
            return notices
        now = now_ns()
        self._service.heard(received.peer)
        is_worker = received.peer.startswith("worker/")
        notices = self._parts.workers.take(received) if is_worker else self._parts.cameras.take(received, now)
        if self._parts.notebook.is_open:
            note_message(self._parts.notebook, received.message, now)
        return notices

    def _take_last(self, received: Received) -> None:
        """A message after the end: frames are counted, answers come too late."""
        if received.peer.startswith("camera/"):
            self._parts.cameras.take(received, now_ns())
            self._parts.router.give_up_all("shutdown")

    def _announce(self, notice: HubEvent) -> None:
        if self._refusals.is_news(notice):
            self._parts.outlet.announce(notice)

    def _happened(self, notice: HubEvent) -> None:
        self._announce(notice)
        if notice.event == "refused" and notice.worker:
            self._parts.supervisor.refuse_worker(notice.worker)
        if notice.event == "worker_up" and notice.worker and self._parts.workers.first:
            for returned in self._parts.supervisor.worker_is_ready(notice.worker):
                self._announce_switch(returned)
            self._choose()
        if notice.event == "camera_ended" and notice.camera:
            self._parts.supervisor.cameras.has_ended(notice.camera)
        if notice.event == "job_failed" and notice.reason == "device_error" and notice.worker:
            self._parts.workers.left(notice.worker, "worker_lost")
            self._parts.supervisor.kill_worker(notice.worker, notice.reason)

    def _announce_switch(self, notice: HubEvent) -> None:
        self._announce(notice)
        if notice.event in {"fallback", "device_retried"}:
            self._parts.metrics.switches.labels(self._parts.supervisor.worker).inc()

    def _lost(self, notice: HubEvent) -> None:
        """A child has ended that should not have."""
        self._announce_switch(notice)
        self._service.lost(notice)
        if notice.event in {"worker_lost", "worker_retired", "fallback"} and notice.worker:
            self._parts.workers.left(notice.worker, "worker_lost")
            self._parts.workers.greet(notice.worker)
        if notice.event in {"worker_lost", "fallback"}:
            self._parts.metrics.worker_restarts.labels(notice.worker, notice.reason).inc()
        if notice.event == "camera_lost" and notice.camera:
            self._parts.cameras.left(notice.camera)

    def _supervise(self, now: int) -> None:
        """After a signal (a child may have ended), when a child is to be started, and each second to be sure."""
        self._signals.clear()
        if self._signals.take_reload():
            self._asked.reload()
        for notice in self._parts.supervisor.step(now):
            self._lost(notice)
        self._choose()
        due_ns = self._parts.supervisor.next_due_ns()
        self._supervise_ns = min(now + TICK_NS, now + TICK_NS if due_ns is None else due_ns)

    def _choose(self) -> None:
        self._parts.workers.choose(self._parts.supervisor.serving, self._parts.supervisor.retiring)
        self._parts.metrics.fallback.set(self._parts.supervisor.is_fallback)
        if self._parts.supervisor.works and self._parts.workers.first:
            self._first_ready_ns = self._first_ready_ns or now_ns()
            self._parts.cameras.start_capture(self._parts.workers.first.model)
            self._service.worker_is_ready()

    def _tick(self, now: int) -> None:
        self._next_tick_ns = max(self._next_tick_ns + TICK_NS, now)
        parts = self._parts
        parts.outlet.status(standing(parts.router, parts.cameras, parts.supervisor, parts.workers))
        for notice in (*self._parts.guard.notices(now), *self._parts.services.notices(now)):
            self._parts.outlet.announce(notice)
        self._parts.hosts.tick(now)
        self._parts.runtime_files.restore(self._parts.links)
        self._count()
        self._display.lines(now)
        self._service.tick(now)

    def _count(self) -> None:
        for name, camera in self._parts.router.cameras.items():
            ledger = camera.ledger
            self._parts.metrics.count_frames(name, ledger.captured, ledger.dropped, ledger.pending)
        self._parts.cameras.count()
        self._parts.outlet.count()
        self._parts.workers.answers.count()

    def _wait_ms(self) -> int:
        first, router = min(self._next_tick_ns, self._supervise_ns, self._hanging.next_ns), self._parts.router
        for at in (router.next_deadline_ns(), router.next_job_ns(), self._asked.next_ns()):
            first = first if at is None else min(first, at)
        wait_ms = max(0, math.ceil((first - now_ns()) / 1e6))
        return min(wait_ms, SETTLE_MS) if self._parts.outlet.unsettled else wait_ms

    def _notice_pause(self) -> None:
        """What nobody could be heard in is nobody's silence."""
        if paused_ns := self._pause.since_due_ns():
            log.warning(
                "the hub stood still for %.1f s: it was stopped, or got no processor", paused_ns / NANOSECONDS
            )
            self._parts.cameras.states.stood_still(paused_ns)
            self._parts.router.stood_still(paused_ns)

    def _is_over(self) -> bool:
        parts, limits = self._parts, self._limits
        cameras_ended = parts.cameras.states.ended >= parts.router.cameras.keys() and parts.router.idle
        limit = limits.count_reached(parts.tally.predictions) or limits.time_expired(self._first_ready_ns)
        return bool(self._signals.stops) or cameras_ended or limit
