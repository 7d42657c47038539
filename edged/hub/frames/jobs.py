"""The jobs assigned to workers, and the workers that can take another one."""

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import count
from secrets import randbits

from edged.clock import NANOSECONDS
from edged.hub.frames.queues import Held, PartialResult, Pixels, StageQueue, StageResults
from edged.messages import Job, ModelInfo, Scores


@dataclass(slots=True, eq=False)
class Assigned:
    """A job assigned to a worker, to be answered before `deadline_ns`: `allowed_ns` after its turn has come.

    `since_ns`: when it was assigned. `until`: the cut at which the worker's part ends; `passing`: its input, if
    the part begins at a cut. `head`, `shadow`, `features`: as its message says (see `heads`).
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
        """Return the stages that its frames have passed."""
        return self.passing.legs if self.passing else ()

    @property
    def payloads(self) -> Sequence[Pixels]:
        """Return what its message carries: the pixels of each frame, or the features of all of them."""
        return [self.passing.features] if self.passing else [held.pixels for held in self.frames]

    def message(self, top: int, *, detects: bool = False) -> Job:
        """Return the message to the worker, which answers with the `top` best classes of each frame.

        `detects`: the worker runs a detector, which answers with boxes in the cameras' pictures.
        """
        return Job(
            job=self.job,
            frames=len(self.frames),
            top=top,
            timeout_s=self.allowed_ns / NANOSECONDS,
            head=self.head,
            shadow=self.shadow,
            features=self.features,
            places=tuple(held.frame.place for held in self.frames) if detects else (),
        )

    def fits_scores(self, scores: Scores, model: ModelInfo) -> bool:
        """Return whether these scores answer this job, for this model."""
        classes, boxed = len(model.labels), len(self.frames) if model.task == "detect" else 0
        return (
            not self.until
            and (len(scores.frames), len(scores.boxes)) == (len(self.frames), boxed)
            and len(scores.faint) in {0, boxed}
            and all(score.index < classes for top in scores.frames for score in top)
            and all(box.index < classes for boxes in scores.boxes for box in boxes)
        )

    def fits_features(self, payloads: Sequence[Sized], values: int) -> bool:
        """Return whether these features fit the cut where its part ends: so many float32 per frame."""
        return bool(self.until) and [len(each) for each in payloads] == [4 * values * len(self.frames)]

    def touches(self, cut: str) -> bool:
        """Return whether its worker's part begins or ends at this cut."""
        return cut == self.until or (self.passing is not None and cut == self.passing.cut)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many jobs a worker takes at a time, and how many frames each may carry.

    `patience_ns`: it may take so long for a job, even past the deadline: it is slow, but does not hang.
    `gather_ns`: how long a frame may wait for others of its job. `begin`, `until`: the cuts between which it
    runs the network; empty: from the images, to the scores.
    """

    credit: int
    batch: int
    patience_ns: int = 0
    gather_ns: int = 0
    begin: str = ""
    until: str = ""

    def goes_on_with(self, passing: PartialResult | None) -> bool:
        """Return whether the part begins at this cut with so many values per frame; None: with images."""
        if passing is None:
            return not self.begin
        return self.begin == passing.cut and len(passing.frames) <= self.batch


class Jobs:
    """The jobs in flight, by number, and the workers that can get more."""

    def __init__(self, between: StageQueue) -> None:
        """`between`: partial results that wait at the cuts."""
        self.in_flight: dict[int, Assigned] = {}
        self.workers: dict[str, Capacity] = {}
        self.scores_wait = False  # no worker gets a job that it would answer with scores
        self._between = between
        # numbers continue from a random start: so no answer to another hub's job matches one of ours
        self._numbers = count(randbits(48))

    def of(self, worker: str) -> Iterator[Assigned]:
        """Return the jobs that a worker has not answered."""
        return (assigned for assigned in list(self.in_flight.values()) if assigned.worker == worker)

    def hand(
        self,
        worker: str,
        frames: tuple[Held, ...],
        now_ns: int,
        least_ns: int,
        passing: PartialResult | None = None,
    ) -> Assigned:
        """Assign a job to `worker`, which has `least_ns` for it, or longer if it is slow."""
        capacity = self.workers[worker]
        allowed_ns, job = max(least_ns, capacity.patience_ns), next(self._numbers)
        assigned = Assigned(job, worker, frames, allowed_ns, now_ns + allowed_ns, now_ns, capacity.until, passing)
        self.in_flight[job] = assigned
        return assigned

    def answered(self, job: int, worker: str, now_ns: int) -> Assigned | None:
        """Take the job back from its worker, and begin the time of its later jobs. None if it has no such job."""
        assigned = self.in_flight.get(job)
        if assigned is None or assigned.worker != worker:
            return None
        for other in self.in_flight.values():
            if other.worker == worker and other.job > job:
                other.deadline_ns = now_ns + other.allowed_ns
        return self.in_flight.pop(job)

    def who_scores(self) -> set[str]:
        """Return the workers that answer with scores, or may, as things are now."""
        ready = {name for name, each in self.workers.items() if not each.until}
        return ready | {assigned.worker for assigned in self.in_flight.values() if not assigned.until}

    def awaits_scores(self) -> bool:
        """Return whether scores are expected."""
        return any(not assigned.until for assigned in self.in_flight.values())

    def is_served(self, passing: PartialResult) -> bool:
        """Return whether a worker could continue with this partial result."""
        return any(each.goes_on_with(passing) for each in self.workers.values())

    def free_worker(self, passing: PartialResult | None = None) -> str | None:
        """Return the worker with most credit left that can continue with it, or begins with images."""
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
        """Return whether there will soon be room behind the cut for what is on its way there.

        As many jobs as the workers behind it may hold, and one more for each worker before it: so no worker waits
        for the other side, and no frame gets old between them.
        """
        if not cut:
            return True
        behind = sum(each.credit for each in self.workers.values() if each.begin == cut)
        ahead = sum(each.until == cut for each in self.workers.values())
        busy = self._between.jobs_at(cut) + sum(each.touches(cut) for each in self.in_flight.values())
        return behind > 0 and busy < behind + ahead
