"""Route frames to workers, as values: without sockets, clocks or processes.

A worker that runs a part of the network begins or ends at a cut, which has a name. Frames of cameras go to
workers that begin with the image; the features of one that ends at a cut go to those that begin there.
"""

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace

from edged.clock import nanoseconds
from edged.hub.frames.holds import Holds
from edged.hub.frames.jobs import Assigned, Capacity, Jobs
from edged.hub.frames.ledger import Ledger
from edged.hub.frames.queues import Held, PartialResult, Pixels, Slot, StageQueue, StageResult
from edged.messages import CameraCount, CameraHello

NEVER_NS = 1 << 63
MOST_BEHIND = 4  # turns that a camera may have missed and still makes up for


class Camera:
    """The router's state of one camera.

    `waits`: it captures only what is granted. `ages`: its frames get too old, as all do but those that wait for
    grants and nobody else waits for.

    `to_grant` is below 0 while frames that came back from a lost worker take more places than there are. `turn`:
    the frames that were taken of it, at least as many as of others, less `MOST_BEHIND`.
    """

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.slot = Slot()
        self.waits = False
        self.ages = True
        self.to_grant = 0
        self.turn = 0

    def free_slots(self, count: int) -> None:
        """Let a camera that waits for grants capture `count` more frames; fewer, if it is negative."""
        if self.waits:
            self.to_grant += count


class Waiting:
    """The cameras whose slots hold frames. Most are empty most of the time, and the hub checks at each turn.

    The camera with the fewest turns comes first, so that one whose frame came late makes up for it; of equal ones
    the one that has waited longest (start-time fair queueing, Goyal et al., 1996).
    """

    def __init__(self) -> None:
        self._cameras: dict[str, Camera] = {}
        self._turn = 0  # of the camera that was taken last
        self._oldest_ns = NEVER_NS  # no waiting frame was captured earlier

    def __bool__(self) -> bool:
        return bool(self._cameras)

    @property
    def names(self) -> Set[str]:
        """Return the names of these cameras."""
        return self._cameras.keys()

    def add(self, name: str, camera: Camera) -> None:
        """Record that a frame has entered its slot."""
        if name not in self._cameras:
            camera.turn = max(camera.turn, self._turn - MOST_BEHIND)
        self._cameras[name] = camera
        self._oldest_ns = min(self._oldest_ns, camera.slot.oldest_ns)

    def gathered_ns(self, capacity: Capacity, max_age_ns: int) -> int | None:
        """Return when the frames must be assigned even if they do not fill a job; None: none wait.

        No frame waits for others longer than half of its largest age.
        """
        slots = [camera.slot for camera in self._cameras.values()]
        if not slots:
            return None
        if not capacity.gather_ns or sum(map(len, slots)) >= capacity.batch:
            return 0
        return min(
            min(slot.waiting_since_ns + capacity.gather_ns, slot.oldest_ns + max_age_ns // 2) for slot in slots
        )

    def take(self, most: int, now_ns: int) -> tuple[Held, ...]:
        """Take frames in the order of their cameras' turns."""
        frames: list[Held] = []
        while self._cameras and len(frames) < most:
            name, first = min(
                self._cameras.items(), key=lambda each: (each[1].turn, each[1].slot.waiting_since_ns)
            )
            frames.append(first.slot.take(now_ns + len(frames)))
            self._turn = first.turn
            first.turn += 1
            first.free_slots(1)
            self._forget_if_empty(name)
        return tuple(frames)

    def take_older_than(self, captured_ns: int) -> list[Held]:
        """Take the frames captured before `captured_ns`, except those that do not get too old."""
        if captured_ns <= self._oldest_ns:
            return []
        old: list[Held] = []
        for name, camera in list(self._cameras.items()):
            old += camera.slot.older_than(captured_ns) if camera.ages else []
            self._forget_if_empty(name)
        self._oldest_ns = min((camera.slot.oldest_ns for camera in self._cameras.values()), default=NEVER_NS)
        return old

    def clear(self) -> Iterator[Held]:
        """Remove and return all frames."""
        for camera in self._cameras.values():
            yield from camera.slot.clear()
        self._cameras.clear()

    def _forget_if_empty(self, name: str) -> None:
        if not len(self._cameras[name].slot):
            del self._cameras[name]


class Router:
    """Assigns frames to workers. All times are nanoseconds of one monotonic clock, given by the caller.

    For each camera, after each method: captured = predicted + dropped by reason + waiting (in its slot or between
    two segments) + in flight, exactly.
    """

    def __init__(
        self,
        cameras: Iterable[str],
        *,
        keep: int,
        max_age_ns: int,
        deadline_ns: int,
        on_dropped: Callable[[Held, str], None] | None = None,
    ) -> None:
        """`on_dropped` is called with each frame that the hub drops, and the reason."""
        self.cameras = {name: Camera() for name in cameras}
        self._waiting = Waiting()
        self.between = StageQueue()
        self.jobs = Jobs(self.between)
        self.holds = Holds()
        self._on_dropped = on_dropped
        self.answers = 0  # jobs that workers have answered
        self.grants_frames = False  # there is, or was, a camera that waits for grants
        self._keep = keep
        self._max_age_ns = max_age_ns
        self._deadline_ns = deadline_ns

    def set_freshness(self, *, keep: int, max_age_ns: int, deadline_ns: int) -> None:
        """Apply these limits; a job that is in flight keeps its deadline."""
        self._keep, self._max_age_ns, self._deadline_ns = keep, max_age_ns, deadline_ns

    # ── cameras ──

    def add_camera(self, name: str) -> None:
        """Add a camera; one that was there before continues its ledger."""
        self.cameras.setdefault(name, Camera())

    def camera_started(self, hello: CameraHello) -> None:
        """Record the hello of a camera process; one that waits for grants may fill the free places of its slot."""
        camera = self.cameras[hello.camera]
        camera.ledger.greeted(hello.run, hello.count)
        camera.waits = hello.awaits_grants
        camera.ages = hello.awaits_answers or not hello.awaits_grants
        self.grants_frames |= hello.awaits_grants
        camera.to_grant = self._keep - len(camera.slot) if hello.awaits_grants else 0
        if hello.can_be_held:
            self.holds.add(hello.camera)
        else:
            self.holds.remove(hello.camera)

    def camera_left(self, name: str) -> None:
        """Record that the process of a camera has ended; its frames that wait are still assigned."""
        self.holds.remove(name)

    def camera_reported(self, name: str, counted: CameraCount) -> None:
        """Record a count that came without a frame."""
        self.cameras[name].ledger.report(counted)

    def frame_arrived(self, held: Held, now_ns: int) -> None:
        """Queue a frame; drop the oldest if there are too many."""
        camera = self.cameras[held.frame.camera]
        if not camera.ledger.frame(held.frame.count):
            return
        if self.holds.are_on and self._is_of_held_camera(held, now_ns):
            self._drop([held], "superseded")
            return
        superseded = camera.slot.add(held, now_ns, None if camera.waits else self._keep)
        self._waiting.add(held.frame.camera, camera)
        if superseded:
            self.holds.frame_replaced(now_ns)
            self._drop(superseded, "superseded")

    def _is_of_held_camera(self, held: Held, now_ns: int) -> bool:
        """Return whether a frame was on its way when its camera was held: it would be old when it is taken.

        No camera is held any more if a worker had nothing to do until this frame came.
        """
        self.holds.frame_arrived(held.frame)
        if not self._waiting and (worker := self.jobs.free_worker()) and not self.has_jobs(worker):
            self.holds.turn_off(now_ns)
        return self.holds.is_held(held.frame.camera, now_ns)

    def frame_unusable(self, name: str, counted: CameraCount) -> None:
        """Count a frame of the wrong size as lost; its camera may send another."""
        camera = self.cameras[name]
        camera.ledger.report(counted)
        camera.free_slots(1)

    def grants(self) -> dict[str, int]:
        """Return how many more frames each camera that waits may capture, each grant once."""
        granted = {name: camera.to_grant for name, camera in self.cameras.items() if camera.to_grant > 0}
        for name in granted:
            self.cameras[name].to_grant = 0
        return granted

    # ── workers ──

    def worker_joins(self, worker: str, capacity: Capacity) -> None:
        """Assign jobs to a worker from now on."""
        self.jobs.workers[worker] = capacity

    def worker_retires(self, worker: str) -> None:
        """Assign no more jobs to a worker; it may still answer those that it has."""
        self.jobs.workers.pop(worker, None)

    def has_jobs(self, worker: str) -> bool:
        """Return whether a worker has unanswered jobs."""
        return any(self.jobs.of(worker))

    def worker_left(self, worker: str, reason: str, now_ns: int) -> None:
        """Give up the jobs of a worker that is gone."""
        self.jobs.workers.pop(worker, None)
        self.holds.turn_off(now_ns)
        for assigned in self.jobs.of(worker):
            self.give_up(assigned.job, reason, now_ns)

    def assign_all(self, now_ns: int) -> Iterator[Assigned]:
        """Yield jobs, each for the worker with the most credit left, while frames wait and a worker is free.

        The caller sends each before it asks for the next one; a worker may leave in between.
        """
        self._drop_stale(now_ns)
        while assigned := self._next_job(now_ns):
            yield assigned

    def answered(self, job: int, worker: str, now_ns: int) -> Assigned | None:
        """Take the job from its worker. None for a job that was given up: its answer is too late.

        The caller owes each of its frames a `predicted`, `dropped` or `lost`. The time of the worker's later jobs,
        which have waited for this one, begins now.
        """
        assigned = self.jobs.answered(job, worker, now_ns)
        self.answers += assigned is not None
        if self.holds.are_on and not self._waiting:
            self.holds.none_wait(now_ns)
        return assigned

    def passed_on(self, assigned: Assigned, features: Pixels, leg: StageResult) -> None:
        """Queue an answered job for the part behind the cut; `leg`: the stage that is done."""
        self.between.add(PartialResult(assigned.frames, assigned.until, features, (*assigned.legs, leg)))

    def predicted(self, held: Held) -> None:
        """Count a frame of an answered job as published."""
        self.cameras[held.frame.camera].ledger.predict()

    def dropped(self, held: Held, reason: str) -> None:
        """Drop a frame of an answered job."""
        self.cameras[held.frame.camera].ledger.drop(reason)
        if self._on_dropped:
            self._on_dropped(held, reason)

    def lost(self, held: Held, reason: str, now_ns: int) -> None:
        """Try a frame that a worker did not answer once more, if it is still fresh; else drop it."""
        camera = self.cameras[held.frame.camera]
        if held.lost or self.is_stale(held, now_ns):
            self.dropped(held, reason)
            return
        camera.free_slots(-1)
        camera.turn -= 1
        superseded = camera.slot.put_back(replace(held, lost=reason), None if camera.waits else self._keep)
        self._waiting.add(held.frame.camera, camera)
        self._drop(superseded, "superseded")

    def give_up(self, job: int, reason: str, now_ns: int) -> None:
        """Expect no answer to a job any more."""
        for held in self.jobs.in_flight.pop(job).frames:
            self.lost(held, reason, now_ns)

    # ── time ──

    def is_stale(self, held: Held, now_ns: int) -> bool:
        """Return whether a frame is too old to be predicted or published, or may be, given the clocks' error."""
        stale_ns = self.stale_ns(held)
        return stale_ns is not None and now_ns > stale_ns

    def stale_ns(self, held: Held) -> int | None:
        """Return when a frame gets too old; None: never."""
        if not self.cameras[held.frame.camera].ages:
            return None
        return held.frame.captured_ns - nanoseconds(held.frame.clock_error_s) + self._max_age_ns

    def overdue(self, now_ns: int) -> list[Assigned]:
        """Return the jobs whose worker has passed the deadline."""
        return [assigned for assigned in self.jobs.in_flight.values() if now_ns >= assigned.deadline_ns]

    def stood_still(self, paused_ns: int) -> None:
        """Extend all deadlines by the time in which the hub itself could receive no answer."""
        for assigned in self.jobs.in_flight.values():
            assigned.deadline_ns += paused_ns

    def has_suspect(self, now_ns: int) -> bool:
        """Return whether a worker holds a job for half of its time: none does that works as before."""
        return any(
            now_ns >= assigned.deadline_ns - assigned.allowed_ns // 2 for assigned in self.jobs.in_flight.values()
        )

    def next_deadline_ns(self) -> int | None:
        """Return when `overdue` may first return a job."""
        return min((assigned.deadline_ns for assigned in self.jobs.in_flight.values()), default=None)

    def next_due_ns(self) -> int | None:
        """Return when a deadline passes, or `assign_all` yields a job though no other frame comes."""
        deadline_ns = self.next_deadline_ns()
        worker = self.jobs.free_worker() if self._waiting else None
        gathered_ns = self._waiting.gathered_ns(self.jobs.workers[worker], self._max_age_ns) if worker else None
        return min((at for at in (deadline_ns, gathered_ns) if at is not None), default=None)

    def give_up_all(self, reason: str) -> None:
        """Drop all frames that wait or are in flight."""
        for assigned in self.jobs.in_flight.values():
            for held in assigned.frames:
                self.dropped(held, reason)
        self.jobs.in_flight.clear()
        for held in self.between.take(lambda passing: True):
            self.dropped(held, reason)
        self._drop(self._waiting.clear(), reason)

    @property
    def ledgers(self) -> dict[str, Ledger]:
        """Return the fate of each camera's frames."""
        return {name: camera.ledger for name, camera in self.cameras.items()}

    @property
    def frames_wait(self) -> bool:
        """Return whether frames wait for a worker."""
        return bool(self._waiting)

    @property
    def idle(self) -> bool:
        """Return whether nothing waits and nothing is in flight."""
        return not self.jobs.in_flight and not self.between.waiting and not self._waiting

    def _next_job(self, now_ns: int) -> Assigned | None:
        if self.between.waiting and (passed_on := self._next_part(now_ns)):
            return passed_on
        worker = self.jobs.free_worker() if self._waiting else None
        if worker is None:
            return None
        capacity = self.jobs.workers[worker]
        gathered_ns = self._waiting.gathered_ns(capacity, self._max_age_ns)
        if gathered_ns is None or now_ns < gathered_ns:
            return None
        frames = self._waiting.take(capacity.batch, now_ns)
        if self.holds.are_on:
            turns = {name: camera.turn for name, camera in self.cameras.items()}
            self.holds.frames_taken([held.frame.camera for held in frames], self._waiting.names, turns, now_ns)
        return self.jobs.hand(worker, frames, now_ns, self._deadline_ns)

    def _next_part(self, now_ns: int) -> Assigned | None:
        """Return a job for a worker behind a cut. Frames that no worker can continue are run from the start."""
        for held in self.between.take(lambda passing: not self.jobs.is_served(passing)):
            self.lost(held, "worker_lost", now_ns)
        for passing in self.between.waiting:
            if worker := self.jobs.free_worker(passing):
                self.between.remove(passing)
                return self.jobs.hand(worker, passing.frames, now_ns, self._deadline_ns, passing)
        return None

    def _drop_stale(self, now_ns: int) -> None:
        self._drop(self._waiting.take_older_than(now_ns - self._max_age_ns), "stale")
        if self.between.waiting:
            for held in self.between.take(lambda each: all(self.is_stale(held, now_ns) for held in each.frames)):
                self.dropped(held, "stale")

    def _drop(self, frames: Iterable[Held], reason: str) -> None:
        """Drop frames from a slot. One that waits because its worker was lost counts as lost with it."""
        for held in frames:
            self.cameras[held.frame.camera].free_slots(1)
            self.dropped(held, held.lost or reason)
