"""React to what happens to cameras and workers: announce it, end what hangs, choose who serves."""

from collections.abc import Callable, Iterable

from edged.clock import NANOSECONDS, now_ns
from edged.hub.children.shutdown import stop_children
from edged.hub.events import HubEvent, Refusals
from edged.hub.links.received import Received
from edged.hub.node import Node
from edged.hub.pipeline import Publication
from edged.hub.signals import Signals
from edged.hub.systemd_service import Service

AT_LEAST_EVERY_NS = NANOSECONDS
SWITCHES = {"fallback", "device_retried", "stand_in", "stand_in_ended"}  # another worker serves


class Supervision:
    """Connects the processes (`supervisor`) with the hub's state of their cameras and workers.

    `due_ns`: when `step` must be called next; `silence_due_ns`: when `kill_silent_cameras` must.
    """

    def __init__(self, node: Node, service: Service, publication: Publication) -> None:
        self.first_ready_ns: int | None = None  # when the first worker became ready
        self.due_ns = self.silence_due_ns = now_ns()
        self._node = node
        self._service = service
        self._publication = publication
        self._refusals = Refusals()
        self.all_cameras_ended = not node.router.cameras  # no camera will send another frame

    def handle_events(self, events: Iterable[HubEvent]) -> None:
        """Announce events, and react to them."""
        for event in events:
            self._handle_event(event)
        self.all_cameras_ended = self._node.cameras.states.ended >= self._node.router.cameras.keys()

    def _handle_event(self, event: HubEvent) -> None:
        self._announce(event)
        if event.event == "refused" and event.worker:
            self._node.supervisor.refuse_worker(event.worker)
        if event.event == "worker_up" and event.worker and self._node.workers.first:
            for returned in self._node.supervisor.worker_is_ready(event.worker):
                self._announce_switch(returned)
            self._choose_workers()
        if event.event == "camera_ended" and event.camera:
            self._node.supervisor.cameras.has_ended(event.camera)
        if event.event == "job_failed" and event.reason == "device_error" and event.worker:
            self._node.workers.left(event.worker, "worker_lost")
            self._node.supervisor.kill_worker(event.worker, event.reason)

    def _announce(self, event: HubEvent) -> None:
        if self._refusals.is_news(event):
            self._publication.announce(event)

    def _announce_switch(self, event: HubEvent) -> None:
        self._announce(event)
        if event.event in SWITCHES:
            self._node.workers.count_switch(self._node.supervisor.worker)

    # ── processes that end ──

    def step(self, now: int) -> None:
        """Reap processes that have ended and start those that are due. Raises EdgedError if none can serve."""
        for event in self._node.supervisor.step(now):
            self._handle_child_exit(event, now)
        self._choose_workers()
        due_ns = self._node.supervisor.next_due_ns()
        self.due_ns = now + AT_LEAST_EVERY_NS if due_ns is None else min(now + AT_LEAST_EVERY_NS, due_ns)

    def _handle_child_exit(self, event: HubEvent, now: int) -> None:
        """Announce a child that has ended unexpectedly, and release what it had."""
        self._announce_switch(event)
        self._node.liveness.child_ended(event, now)
        self._node.workers.process_ended(event)
        if event.event == "camera_lost" and event.camera:
            self._node.cameras.left(event.camera)

    def _choose_workers(self) -> None:
        """Give jobs to the workers that serve now; once one does, cameras may capture."""
        supervisor = self._node.supervisor
        self._node.workers.choose(supervisor.serving, supervisor.retiring, is_fallback=supervisor.is_fallback)
        works, first = supervisor.works, self._node.workers.first
        if first:
            self._node.cameras.answers.serve(first.model, ready=works)
        if works and first:
            self.first_ready_ns = self.first_ready_ns or now_ns()
            self._node.cameras.start_capture(first.model)
            self._service.worker_is_ready()

    def stop_children(self, signals: Signals, receive: Callable[[Received], None]) -> None:
        """Stop every process at the end of the hub. `receive` handles their last messages."""
        stop_children(self._node.supervisor.children, self._node.links, signals, receive)
        self._node.supervisor.close()

    # ── processes that hang ──

    def kill_unreachable(self, worker: str) -> None:
        """Kill a worker that cannot receive a job: it has probably died already."""
        self._node.supervisor.kill_worker(worker)

    def kill_overdue_worker(self, now: int) -> None:
        """Kill a worker with a job beyond its deadline; before that, prepare for its end."""
        self._node.supervisor.suspect_worker(now)
        for assigned in self._node.router.overdue(now):
            self._node.router.give_up(assigned.job, "deadline", now)
            self._node.workers.left(assigned.worker, "worker_lost")
            self._node.supervisor.kill_worker(assigned.worker, "deadline")
            break  # its other jobs are lost with it

    def kill_silent_cameras(self, now: int) -> None:
        """Report silent cameras, and kill those that hang."""
        events = self._node.cameras.states.silenced(self._node.liveness.newly_silent(now))
        for name in self._node.liveness.hung(now, self._node.supervisor.cameras_started_ns):
            self._node.liveness.give_up(name)
            self._node.supervisor.cameras.kill(name)
        silence_ns, latest_ns = self._node.liveness.next_silence_ns(), now + AT_LEAST_EVERY_NS
        self.silence_due_ns = latest_ns if silence_ns is None else min(latest_ns, silence_ns)
        self.handle_events(events)

    def forgive_pause(self, paused_ns: int) -> None:
        """Extend all limits by a time in which the hub itself paused."""
        self._node.liveness.hub_paused(paused_ns)
        self._node.router.stood_still(paused_ns)
