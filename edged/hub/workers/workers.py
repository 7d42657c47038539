"""The workers of this hub: which are connected, which may get jobs, which have left."""

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from edged.clock import nanoseconds, now_ns
from edged.hub.events import HubEvent
from edged.hub.frames.jobs import Assigned, Capacity
from edged.hub.frames.router import Router
from edged.hub.links.peers import Links
from edged.hub.links.received import Received
from edged.hub.publish.sender import AnsweredJob
from edged.hub.stats.hosts import HostEnergy, HostStates
from edged.hub.workers.admission import Ends, crossing, misfit
from edged.hub.workers.heads import Heads, TaughtHead, gives_scores
from edged.messages import (
    ClockRequest,
    Features,
    HeadLoaded,
    HelloRequest,
    HostState,
    IdleEnergy,
    ModelInfo,
    OneLaunches,
    Part,
    Scores,
    Stop,
    WorkerHello,
    protocol_problem,
)
from edged.messages.preparation import IN_CONFIG, default_warning
from edged.metrics import Metrics
from edged.metrics.catalog import LOST

log = logging.getLogger("edged.hub")

SOURCES = {"config": "the config", "file": "its file", "layout": "the layout of its outputs"}
PATIENCE = 5  # factor on the time of the warm-up: a worker that is slower than the deadline does not hang


class Workers:
    """The hub's side of every worker's link. `heads`: which head answers, and which each worker has."""

    def __init__(
        self,
        router: Router,
        links: Links,
        heads: Heads,
        energy: HostEnergy,
        metrics: Metrics,
        hosts: HostStates,
        *,
        ends: Mapping[str, Ends],
    ) -> None:
        """`ends`: by worker, the cuts between which it runs the network."""
        self.hellos: dict[str, WorkerHello] = {}
        self._preparing: dict[str, WorkerHello] = {}  # workers that have not loaded the head that answers
        self.first: WorkerHello | None = None  # names the model that this hub serves
        self._expects_model = False  # the next worker that runs another model is right, and all others must leave
        self._router = router
        self.heads = heads
        self._links = links
        self._energy = energy
        self._metrics = metrics
        self._hosts = hosts
        self._failures: set[tuple[str, str]] = set()  # failures that were reported, by worker and reason
        self._expect(ends)
        for camera in router.cameras:
            metrics.retried.labels(camera).inc(0)

    @property
    def energy_note(self) -> str:
        """Return why there are no joules; empty if there are."""
        return next((hello.energy_note for hello in self.hellos.values()), "")

    def handle_message(self, received: Received) -> list[HubEvent]:
        """Handle a message that is not the answer to a job of a worker that has joined."""
        name, hello = received.name, self.hellos.get(received.name)
        match received.message:
            case WorkerHello() as greeting:
                return self._greet(name, greeting)
            case HeadLoaded() as loaded:
                return self._head_loaded(name, loaded)
            case ClockRequest() as request:
                self._links.answer_clock(received.peer, request)
            case HostState() as state if hello:
                self._hosts.add_report(name, hello.host, state, now_ns())
            case IdleEnergy() as idle if hello:
                self._energy.add_report(name, idle.rails, hello.energy)
            case OneLaunches() as launches if hello:
                self._metrics.one_launch_jobs.labels(name).inc(launches.jobs)
                self._metrics.waits_given_up.labels(name).inc(launches.waits_given_up)
            case Scores() | Features():
                self.request_hello(name)
        return []

    def is_first_failure(self, name: str, reason: str) -> bool:
        """Return whether a worker fails so for the first time since its start: each frame may fail alike."""
        is_first = (name, reason) not in self._failures
        self._failures.add((name, reason))
        return is_first

    def choose(self, serving: Collection[str], retiring: Iterable[str], *, is_fallback: bool) -> None:
        """Give jobs only to the first of these; the second stop, once they have answered their jobs.

        `is_fallback`: they serve in place of the workers that should.
        """
        self._metrics.fallback.set(is_fallback)
        for name, hello in self.hellos.items():
            self._metrics.worker_serving.labels(name).set(name in serving)
            if name in serving:
                self._router.worker_joins(name, _capacity(hello))
                self._expects_model = False  # all workers were stopped: one that serves was started since
            else:
                self._router.worker_retires(name)
        for name in retiring:
            if not self._router.has_jobs(name):
                self._links.send(f"worker/{name}", Stop())
        self._metrics.frames_between.set(len(self._router.between.frames))

    def expect_model(self) -> None:
        """Expect that all workers start again with another model: the first of them that is ready begins it."""
        self._expects_model = True

    def set_ends(self, ends: Mapping[str, Ends]) -> list[str]:
        """Change the parts of some workers.

        Returns those of other hosts that must leave: they cannot be changed from here.
        """
        self._expect(ends)
        gone = []
        for name, hello in list(self.hellos.items()):
            if f"worker/{name}" in self._links.elsewhere and (reason := self._unfit(name, hello)):
                log.warning("worker %s is refused: %s", name, reason)
                self._links.send(f"worker/{name}", Stop(refused=reason))
                self.left(name, "worker_lost")
                gone.append(name)
        return gone

    def remove(self, name: str) -> None:
        """Stop a worker of another host that the config no longer has; its frames go to the others."""
        self._links.send(f"worker/{name}", Stop(refused=f"the config no longer has worker {name}"))
        self.left(name, "worker_lost")

    def request_hello(self, name: str) -> None:
        """Request a hello: a worker on another host may be back before its loss was noticed."""
        self._links.send(f"worker/{name}", HelloRequest())

    def left(self, name: str, reason: str) -> None:
        """Record that a worker is lost; its frames are retried, or dropped for `reason`."""
        self._router.worker_left(name, reason, now_ns())
        self._failures = {failure for failure in self._failures if failure[0] != name}
        self.heads.left(name)
        self._preparing.pop(name, None)
        if hello := self.hellos.pop(name, None):
            self._metrics.worker_up.labels(name, hello.device).set(0)
            self._metrics.worker_serving.labels(name).set(0)

    def process_ended(self, event: HubEvent) -> None:
        """Give up what the worker of `event` had, if one has ended or must make room; count it if it was lost."""
        if event.event in {"worker_lost", "worker_retired", "fallback"} and event.worker:
            self.left(event.worker, "worker_lost")
            self.request_hello(event.worker)
        if event.event in {"worker_lost", "fallback"}:
            self._metrics.worker_restarts.labels(event.worker, event.reason).inc()

    def count_switch(self, name: str) -> None:
        """Count that another worker or device is to serve: this one."""
        self._metrics.switches.labels(name).inc()

    def _expect(self, ends: Mapping[str, Ends]) -> None:
        """Expect the workers of the config: their counters start at 0."""
        self._ends = ends
        for name in ends:
            self._metrics.switches.labels(name)
            for reason in LOST:
                self._metrics.worker_restarts.labels(name, reason)

    def _greet(self, name: str, hello: WorkerHello) -> list[HubEvent]:
        changed = self._change_model(hello)
        if reason := self._unfit(name, hello):
            self._links.send(f"worker/{name}", Stop(refused=reason))
            return [*changed, HubEvent("refused", f"worker {name} is refused: {reason}", worker=name)]
        self.left(name, "worker_lost")  # jobs from before its link broke, or before it died, are lost
        notices = changed if self.first else [*changed, *self._begin(hello.model)]
        self.first = self.first or hello
        if (taught := self.heads.answers) is None or not gives_scores(hello):
            return [*notices, self._joins(name, hello)]
        self._preparing[name] = hello
        self.heads.offer(name, taught)
        return notices

    def _change_model(self, hello: WorkerHello) -> list[HubEvent]:
        """Begin another model, if it is expected and this worker runs it.

        Workers that still run the model before are given up, with their jobs, so that none of its answers follows
        one of the new model.
        """
        before = self.first.model if self.first else None
        if not self._expects_model or before is None or hello.model == before or protocol_problem(hello):
            return []
        for name in [*self.hellos, *self._preparing]:
            self.left(name, "worker_lost")
        self.first, model = None, hello.model
        if (model.width, model.height) != (before.width, before.height):
            self._router.give_up_all("worker_lost")  # what waits has the size of the model before
        message = f"{model.name} ({model.sha256[:12]}) answers in place of {before.name} ({before.sha256[:12]})"
        return [HubEvent("model_changed", message)]

    def _begin(self, model: ModelInfo) -> list[HubEvent]:
        """Serve the model of the first worker; log once how pictures are prepared for it."""
        if model.prepared_by == "default":
            if not model.random_weights:
                log.warning("%s: %s", model.name, default_warning(model.preparation, IN_CONFIG))
        else:
            source = SOURCES[model.prepared_by]
            log.info("%s: pictures are prepared as %s (source: %s)", model.name, model.preparation, source)
        if model.scoring:
            what = "boxes are decoded as" if model.task == "detect" else "scores are"
            log.info("%s: %s %s", model.name, what, model.scoring)
        return self.heads.begin(model)

    def _head_loaded(self, name: str, loaded: HeadLoaded) -> list[HubEvent]:
        """Admit a worker that has loaded its head; treat one that cannot like one with another model."""
        self.heads.record_answer(name, loaded)
        taught, hello = self.heads.answers, self._preparing.get(name)
        if hello is None:
            return []
        if taught and loaded.version != taught.sha256:
            if not self.heads.has(name, taught):  # it has changed meanwhile
                self.heads.offer(name, taught)
                return []
        elif loaded.refused and taught:
            return self._refuses(name, hello, taught, loaded.refused)
        del self._preparing[name]
        return [self._joins(name, hello)]

    def _refuses(self, name: str, hello: WorkerHello, taught: TaughtHead, why: str) -> list[HubEvent]:
        """Refuse a worker that cannot load a head by which others answer; else give the version up."""
        del self._preparing[name]
        reason = f"version {taught.sha256[:12]} cannot answer on worker {name}: {why}"
        if any(map(gives_scores, self.hellos.values())):
            self._links.send(f"worker/{name}", Stop(refused=reason))
            return [HubEvent("refused", reason, worker=name)]
        self.heads.change(None)
        return [HubEvent("model_refused", f"{reason}; the config's model answers"), self._joins(name, hello)]

    def _joins(self, name: str, hello: WorkerHello) -> HubEvent:
        """Give jobs to the worker from now on."""
        self.hellos[name] = hello
        self._energy.worker_joined(hello)
        self._metrics.worker_up.labels(name, hello.device).set(1)
        random = " (random weights: its answers mean nothing)" if hello.model.random_weights else ""
        note = f"; energy: {hello.energy_note}" if hello.energy_note else ""
        part = f", {hello.part}," if hello.part else ""
        taught = f", taught version {self.heads.answers.sha256[:12]}," if self.heads.answers else ""
        wrong = f"; its device computes wrongly, and is used without: {', '.join(hello.excluded_variants)}"
        message = f"worker {name} is ready: {hello.model.name}{random}{part}{taught} on {hello.device}{note}"
        message += wrong if hello.excluded_variants else ""
        return HubEvent("worker_up", message, worker=name)

    def _unfit(self, name: str, hello: WorkerHello) -> str:
        model = self.first.model if self.first else hello.model
        others = [other for other in self.hellos.values() if not misfit(other.worker, other, model, self._ends)]
        return misfit(name, hello, model, self._ends) or crossing(hello, others, self._ends)


def _capacity(hello: WorkerHello) -> Capacity:
    part = hello.part or Part()
    return Capacity(
        hello.credit,
        hello.batch,
        patience_ns=nanoseconds(PATIENCE * hello.forward_s),
        gather_ns=nanoseconds(hello.max_wait_s),
        begin=part.begin or "",
        until=part.end or "",
    )


class JobObserver(Protocol):
    """Requests more of jobs than their scores, while `is_active`."""

    is_active: bool

    def request_extras(self, assigned: Assigned) -> None:
        """Set `features` or `shadow` of a job that is about to be sent."""

    def receive_scores(self, job: AnsweredJob) -> None:
        """Receive a job for which extras were requested."""
