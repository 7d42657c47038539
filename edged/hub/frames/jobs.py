"""The jobs in workers' hands, and who can take one more."""

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import count
from secrets import randbits

from edged.clock import NANOSECONDS
from edged.hub.frames.queues import Held, PartialResult, Pixels, StageQueue, StageResults
from edged.messages import Job, Scores


@dataclass(slots=True, eq=False)
class Assigned:
    """A job in a worker's hands, to be answered before `deadline_ns`: `allowed_ns` after its turn has come.

    `since_ns`: when it was assigned. `until`: the cut at which the worker's part ends; `passing`: what it goes on
    with, where it begins at one. `head`, `shadow`, `features`: as its message says (see `heads`).
    """

    job: int
    worker: str
    frames: tuple[Held, ...]
    allowed_ns: int
    deadline_ns: int
    since_ns: int
    until: str
    passing: PartialResult | None
    head: str = ""
    shadow: str = ""
    features: bool = False

    @property
    def legs(self) -> StageResults:
        """Who has had its frames before."""
        return self.passing.legs if self.passing else ()

    @property
    def payloads(self) -> Sequence[Pixels]:
        """Return what its message carries: the pixels of each frame, or the features of all of them."""
        return [self.passing.features] if self.passing else [held.pixels for held in self.frames]

    def message(self, top: int) -> Job:
        """Return the message to the worker, which answers with the `top` best classes of each frame."""
        return Job(
            job=self.job,
            frames=len(self.frames),
            top=top,
            timeout_s=self.allowed_ns / NANOSECONDS,
            head=self.head,
            shadow=self.shadow,
            features=self.features,
        )

    def fits_scores(self, scores: Scores, classes: int) -> bool:
        """Return whether these are an answer to this job, by a model of so many classes."""
        return (
            not self.until
            and len(scores.frames) == len(self.frames)
            and all(score.index < classes for top in scores.frames for score in top)
        )

    def fits_features(self, payloads: Sequence[Sized], values: int) -> bool:
        """Return whether these are what crosses the cut where its part ends: so many float32 a frame."""
        return bool(self.until) and [len(each) for each in payloads] == [4 * values * len(self.frames)]

    def touches(self, cut: str) -> bool:
        """Whether its worker's part ends or begins there."""
        return cut == self.until or (self.passing is not None and cut == self.passing.cut)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many jobs a worker takes at a time, and how many frames each may carry.

    `patience_ns`: it may take so long for a job, however soon the deadline is: it is slow, it does not hang.
    `gather_ns`: so long a frame may wait for others to go with it. `begin`, `until`: the cuts between which it
    runs the network; empty: from the images, to the scores.
    """

    credit: int
    batch: int
    patience_ns: int = 0
    gather_ns: int = 0
    begin: str = ""
    until: str = ""

    def goes_on_with(self, passing: PartialResult | None) -> bool:
        """Whether the part begins there, and with so many frames; None: with images."""
        if passing is None:
            return not self.begin
        return self.begin == passing.cut and len(passing.frames) <= self.batch


class Jobs:
    """In flight, by number; and the workers that may get more."""

    def __init__(self, between: StageQueue) -> None:
        """`between`: what waits at the cuts."""
        self.in_flight: dict[int, Assigned] = {}
        self.workers: dict[str, Capacity] = {}
        self.scores_wait = False  # nobody gets a job whose answer would be scores
        self._between = between
        self._numbers = count(randbits(48))  # an answer to another hub's job is none to ours

    def of(self, worker: str) -> Iterator[Assigned]:
        """Those that a worker has not answered."""
        return (assigned for assigned in list(self.in_flight.values()) if assigned.worker == worker)

    def hand(
        self,
        worker: str,
        frames: tuple[Held, ...],
        now_ns: int,
        least_ns: int,
        passing: PartialResult | None = None,
    ) -> Assigned:
        """A job for `worker`, which has `least_ns` for it, or longer if it is slow."""
        capacity = self.workers[worker]
        allowed_ns, job = max(least_ns, capacity.patience_ns), next(self._numbers)
        assigned = Assigned(job, worker, frames, allowed_ns, now_ns + allowed_ns, now_ns, capacity.until, passing)
        self.in_flight[job] = assigned
        return assigned

    def answered(self, job: int, worker: str, now_ns: int) -> Assigned | None:
        """Take it back from its worker; the time of that one's later jobs begins now. None: it has no such job."""
        assigned = self.in_flight.get(job)
        if assigned is None or assigned.worker != worker:
            return None
        for other in self.in_flight.values():
            if other.worker == worker and other.job > job:
                other.deadline_ns = now_ns + other.allowed_ns
        return self.in_flight.pop(job)

    def who_scores(self) -> set[str]:
        """The workers that answer with scores, or may, as things stand."""
        ready = {name for name, each in self.workers.items() if not each.until}
        return ready | {assigned.worker for assigned in self.in_flight.values() if not assigned.until}

    def awaits_scores(self) -> bool:
        """Whether any are to come."""
        return any(not assigned.until for assigned in self.in_flight.values())

    def is_served(self, passing: PartialResult) -> bool:
        """Whether anybody could go on with it."""
        return any(each.goes_on_with(passing) for each in self.workers.values())

    def free_worker(self, passing: PartialResult | None = None) -> str | None:
        """The one with the most credit left of those that go on with it, or begin with images."""
        able = {name: each for name, each in self.workers.items() if each.goes_on_with(passing)}
        left = {name: each.credit for name, each in able.items() if each.until or not self.scores_wait}
        for assigned in self.in_flight.values():
            if assigned.worker in left:
                left[assigned.worker] -= 1
        best = max(left, key=lambda name: left[name], default=None)
        if best is None or left[best] <= 0 or not self._has_room(self.workers[best].until):
            return None
        return best

    def _has_room(self, cut: str) -> bool:
        """Whether what is on its way to a cut will find a worker there that is soon free for it.

        As many jobs as those behind it may have in hand, and one more for each worker before it: so nobody who
        could work waits for the other side, and no frame grows old between them.
        """
        if not cut:
            return True
        behind = sum(each.credit for each in self.workers.values() if each.begin == cut)
        ahead = sum(each.until == cut for each in self.workers.values())
        busy = self._between.jobs_at(cut) + sum(each.touches(cut) for each in self.in_flight.values())
        return behind > 0 and busy < behind + ahead
