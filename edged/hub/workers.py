"""What workers say, and the jobs that they get."""

from collections.abc import Callable, Collection, Iterable
from functools import cache

from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.hub.host_energy import HostEnergy
from edged.hub.link import Received, protocol_problem
from edged.hub.links import Links
from edged.hub.notice import Notice
from edged.hub.outlet import Outlet
from edged.hub.router import Assigned, Capacity, Router
from edged.messages import Greet, Job, JobFailed, Scores, Stop, WorkerHello
from edged.metrics import Metrics

PATIENCE = 5  # times what the warm-up took: a worker that is slower than the deadline does not hang


class Workers:
    """The hub's side of every worker's link.

    `may_publish` is asked before each prediction; where it says no, the frame is dropped as `shutdown`.
    """

    def __init__(
        self,
        router: Router,
        links: Links,
        outlet: Outlet,
        metrics: Metrics,
        *,
        node: str,
        top: int,
        may_publish: Callable[[], bool],
    ) -> None:
        self.hellos: dict[str, WorkerHello] = {}
        self.first: WorkerHello | None = None  # says which model this hub serves
        self._told: set[tuple[str, str]] = set()
        self._router = router
        self._links = links
        self._outlet = outlet
        self._metrics = metrics
        self._energy = HostEnergy(metrics.energy, node)
        self.top = top  # labels in each prediction
        self._may_publish = may_publish
        # a label costs more to look up than to count
        self._age_of, self._job_frames_of = cache(metrics.frame_age.labels), cache(metrics.job_frames.labels)
        for camera in router.cameras:
            metrics.retried.labels(camera).inc(0)

    @property
    def energy_note(self) -> str:
        """Why there are no joules, where there are none."""
        return next((hello.energy_note for hello in self.hellos.values()), "")

    def take(self, received: Received) -> list[Notice]:
        """A message from a worker."""
        name = received.peer.removeprefix("worker/")
        match received.message:
            case WorkerHello() as hello:
                return self._greet(name, hello)
            case Scores() as scores:
                return self._scores(name, scores)
            case JobFailed() as failed:
                return self._failed(name, failed)
        return []

    def assign(self) -> list[str]:
        """Hand out jobs while there are frames and credit. Returns the workers that cannot be reached."""
        unreachable = []
        while assigned := self._router.assign(now_ns()):
            job = Job(
                job=assigned.job,
                frames=len(assigned.frames),
                top=self.top,
                allowed_s=assigned.allowed_ns / NANOSECONDS,
            )
            if not self._links.send(f"worker/{assigned.worker}", job, [held.pixels for held in assigned.frames]):
                self.left(assigned.worker, "worker_lost")
                unreachable.append(assigned.worker)
                continue
            self._job_frames_of(assigned.worker).observe(len(assigned.frames))
            sent_ns = now_ns()
            for held in assigned.frames:
                age = (sent_ns - held.frame.captured_ns) / NANOSECONDS
                self._age_of(held.frame.camera).observe(max(0.0, age))
                if held.lost:
                    self._metrics.retried.labels(held.frame.camera).inc()
        return unreachable

    def choose(self, serving: Collection[str], retiring: Iterable[str]) -> None:
        """Jobs are for the first of these alone; the second stop, once they have answered those that they have."""
        for name, hello in self.hellos.items():
            self._metrics.worker_serving.labels(name).set(name in serving)
            if name in serving:
                self._router.worker_joins(name, _capacity(hello))
            else:
                self._router.worker_retires(name)
        for name in retiring:
            if not self._router.has_jobs(name):
                self._links.send(f"worker/{name}", Stop())

    def remove(self, name: str) -> None:
        """The config has a worker of another host no more: what it has now goes to the others."""
        self._links.send(f"worker/{name}", Stop(refused=f"the config has worker {name} no more"))
        self.left(name, "worker_lost")

    def left(self, name: str, reason: str) -> None:
        """A worker is lost: `reason` for its frames."""
        self._router.worker_left(name, reason, now_ns())
        self._told = {told for told in self._told if told[0] != name}
        if hello := self.hellos.pop(name, None):
            self._metrics.worker_up.labels(name, hello.device).set(0)
            self._metrics.worker_serving.labels(name).set(0)

    def _greet(self, name: str, hello: WorkerHello) -> list[Notice]:
        if reason := self._unfit(name, hello):
            self._links.send(f"worker/{name}", Stop(refused=reason))
            return [Notice("refused", f"worker {name} is refused: {reason}", worker=name)]
        self.left(name, "worker_lost")  # what it had before its link broke, or before it died, it has no more
        self.first = self.first or hello
        self.hellos[name] = hello
        self._energy.begins(name, hello.host)
        self._metrics.worker_up.labels(name, hello.device).set(1)
        random = " (random weights: its answers mean nothing)" if hello.model.random_weights else ""
        note = f"; joules: {hello.energy_note}" if hello.energy_note else ""
        message = f"worker {name} is ready: {hello.model.name}{random} on {hello.device}{note}"
        return [Notice("worker_up", message, worker=name)]

    def _unfit(self, name: str, hello: WorkerHello) -> str:
        if reason := protocol_problem(hello.protocol):
            return reason
        if hello.worker != name:
            return f"it calls itself {hello.worker}, its link says {name}"
        model = self.first.model if self.first else hello.model
        if hello.model != model:
            return (
                f"it runs {hello.model.name} ({hello.model.sha256[:12]}), "
                f"this hub serves {model.name} ({model.sha256[:12]}): give both the same model file"
            )
        return ""

    def _scores(self, name: str, scores: Scores) -> list[Notice]:
        hello = self.hellos.get(name)
        answered_ns = now_ns()
        assigned = self._router.answered(scores.job, name, answered_ns)
        if hello is None:
            self._links.send(f"worker/{name}", Greet())
        if hello is None or assigned is None:
            return []
        added = self._energy.told(name, scores.rails, hello.energy)
        if scores.joules is not None and scores.joules > added:  # the rest was another worker's of that host
            scores = scores.model_copy(update={"joules": added})
        if not _fits(scores, assigned, hello):
            message = f"worker {name} answered a job with what is no answer to it"
            return self._unanswered(assigned, "device_error", message)
        for place, held in enumerate(assigned.frames):
            if self._router.is_stale(held, now_ns()):
                self._router.dropped(held, "stale")
            elif not self._may_publish():
                self._router.dropped(held, "shutdown")
            else:
                self._outlet.publish(held.frame, place, scores, hello, answered_ns)
                self._router.predicted(held)
        return []

    def _failed(self, name: str, failed: JobFailed) -> list[Notice]:
        assigned = self._router.answered(failed.job, name, now_ns())
        if assigned is None:
            return []
        return self._unanswered(assigned, failed.reason, f"worker {name} could not do a job: {failed.error}")

    def _unanswered(self, assigned: Assigned, reason: str, message: str) -> list[Notice]:
        """The frames may fare better on a device that works, but a network's answer stays what it is.

        Told once for each reason and start of a worker: it may be each frame.
        """
        for held in assigned.frames:
            if reason == "device_error":
                self._router.lost(held, reason, now_ns())
            else:
                self._router.dropped(held, reason)
        if (assigned.worker, reason) in self._told:
            return []
        self._told.add((assigned.worker, reason))
        return [Notice("job_failed", message, worker=assigned.worker, reason=reason)]


def _capacity(hello: WorkerHello) -> Capacity:
    return Capacity(
        hello.credit, hello.batch, nanoseconds(PATIENCE * hello.forward_s), nanoseconds(hello.max_wait_s)
    )


def _fits(scores: Scores, assigned: Assigned, hello: WorkerHello) -> bool:
    classes = len(hello.model.labels)
    return len(scores.frames) == len(assigned.frames) and all(
        score.index < classes for top in scores.frames for score in top
    )
