"""Jobs on their way to the workers."""

from functools import cache

from edged.clock import NANOSECONDS, now_ns
from edged.hub.frames.jobs import Assigned
from edged.hub.links.peers import Links
from edged.hub.workers.heads import Heads
from edged.messages import Job
from edged.metrics import Metrics
from edged.tracing import Notebook


class Dispatch:
    """Sends what the router has assigned. `top`: labels in each prediction."""

    def __init__(self, links: Links, heads: Heads, metrics: Metrics, notebook: Notebook, top: int) -> None:
        self.top = top
        self._links = links
        self._heads = heads
        self._metrics = metrics
        self._notebook = notebook
        # a label costs more to look up than to count
        self._age_of = cache(metrics.frame_age.labels)

    def send(self, assigned: Assigned, begun_ns: int) -> bool:
        """False: the worker cannot be reached. `begun_ns`: when the router was asked."""
        self._heads.mark(assigned)
        job = Job(
            job=assigned.job,
            frames=len(assigned.frames),
            top=self.top,
            timeout_s=assigned.allowed_ns / NANOSECONDS,
            head=assigned.head,
            shadow=assigned.shadow,
            features=assigned.features,
        )
        passing = assigned.passing
        payloads = [passing.features] if passing else [held.pixels for held in assigned.frames]
        if not self._links.send(f"worker/{assigned.worker}", job, payloads):
            return False
        self._count(assigned, begun_ns, now_ns())
        return True

    def _count(self, assigned: Assigned, begun_ns: int, sent_ns: int) -> None:
        if self._notebook.is_open:
            frames = tuple((held.frame.camera, held.frame.frame) for held in assigned.frames)
            self._notebook.note("assign", begun_ns, sent_ns, frames=frames, job=assigned.job)
        for held in () if assigned.passing else assigned.frames:
            age = (sent_ns - held.frame.captured_ns) / NANOSECONDS
            self._age_of(held.frame.camera).observe(max(0.0, age))
            if held.lost:
                self._metrics.retried.labels(held.frame.camera).inc()
