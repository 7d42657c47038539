"""captured = predicted + dropped + waiting + in flight, exactly, whatever happens in whatever order.

Some workers run the whole network, others a part of it.
"""

from collections import Counter

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from edged.hub.frames.jobs import Assigned, Capacity
from edged.hub.frames.queues import Held, StageResult
from edged.hub.frames.router import Router
from edged.messages import Features
from tests.hub.frames import HELLO, CameraEnd, hello_of

CAMERAS = ("door", "gate", "folder")
PARTS = {  # the cuts between which a worker runs the network
    "local-0": ("", ""),
    "local-1": ("", ""),
    "front": ("", "a"),
    "middle": ("a", "b"),
    "back-0": ("b", ""),
    "back-1": ("b", ""),
}
KEEP = 2
cameras = st.sampled_from(CAMERAS)
workers = st.sampled_from(list(PARTS))


def leg_of(worker: str) -> StageResult:
    """What it says of a job."""
    hello = msgspec.structs.replace(HELLO, worker=worker)
    return StageResult(hello, Features(job=1, upload_s=0, forward_s=0, download_s=0))


def is_whole(legs: list[StageResult]) -> bool:
    """Whether they are the whole network, each part of it once."""
    cuts = [PARTS[leg.hello.worker] for leg in legs]
    return [begin for begin, _ in cuts] + [""] == [""] + [until for _, until in cuts]


class AnyHistory(RuleBasedStateMachine):
    """Cameras and workers that come, go, send, lose, answer late or never. `folder` waits for grants."""

    def __init__(self) -> None:
        super().__init__()
        self.router = Router(CAMERAS, keep=KEEP, max_age_ns=500, deadline_ns=300)
        self.now = 1000
        self.ends = {name: CameraEnd(name) for name in CAMERAS}
        self.told = dict.fromkeys(CAMERAS, 0)  # captured, as far as the hub can know
        self.earlier = dict.fromkeys(CAMERAS, 0)
        self.granted = dict.fromkeys(CAMERAS, 0)
        self.published: list[Held] = []
        self.jobs: list[Assigned] = []
        self.retired: set[str] = set()
        self.starts = 0
        for name in CAMERAS:
            self.start(name)

    def start(self, name: str) -> None:
        self.ends[name] = CameraEnd(name)
        self.earlier[name] += self.told[name]
        self.told[name] = self.granted[name] = 0
        self.starts += 1
        self.router.camera_started(hello_of(name, run=str(self.starts), waits=name == "folder"))

    @initialize(is_split=st.booleans())
    def all_parts_have_a_worker(self, is_split: bool) -> None:
        for name in ("front", "middle", "back-0") if is_split else ():
            self.a_worker_joins(name, credit=2, batch=2)

    @rule(nanoseconds=st.integers(1, 400))
    def time_passes(self, nanoseconds: int) -> None:
        self.now += nanoseconds

    @rule(name=cameras)
    def the_camera_starts_again(self, name: str) -> None:
        self.start(name)

    @rule(name=cameras, age=st.integers(0, 700))
    def a_frame_arrives(self, name: str, age: int) -> None:
        if name == "folder":
            if not self.granted[name]:
                return
            self.granted[name] -= 1
        end = self.ends[name]
        self.router.frame_arrived(end.frame(self.now - age), self.now)
        self.told[name] = end.captured

    @rule(name=cameras)
    def a_frame_is_lost_on_the_link(self, name: str) -> None:
        self.ends[name].frame()

    @rule(name=cameras)
    def a_frame_arrives_that_is_not_what_was_asked_for(self, name: str) -> None:
        held = self.ends[name].frame()
        self.router.frame_unusable(name, held.frame.count)
        self.told[name] = self.ends[name].captured

    @rule(name=cameras)
    def the_camera_drops_a_frame_and_reports(self, name: str) -> None:
        self.ends[name].drop("motion")
        self.router.camera_reported(name, self.ends[name].count())
        self.told[name] = self.ends[name].captured

    @rule(name=cameras)
    def a_frame_comes_twice(self, name: str) -> None:
        if name != "folder" and self.ends[name].captured:
            held = self.ends[name].frame(self.now)
            self.router.frame_arrived(held, self.now)
            self.router.frame_arrived(held, self.now)
            self.told[name] = self.ends[name].captured

    @rule()
    def grants_are_sent(self) -> None:
        for name, frames in self.router.grants().items():
            assert name == "folder"
            self.granted[name] += frames

    @rule(name=workers, credit=st.integers(1, 3), batch=st.integers(1, 3))
    def a_worker_joins(self, name: str, credit: int, batch: int) -> None:
        self.router.worker_left(name, "worker_lost", self.now)
        begin, until = PARTS[name]
        self.router.worker_joins(name, Capacity(credit, batch, begin=begin, until=until))
        self.retired.discard(name)

    @rule(name=workers)
    def a_worker_is_lost(self, name: str) -> None:
        self.router.worker_left(name, "worker_lost", self.now)
        assert not self.router.has_jobs(name)

    @rule(name=workers)
    def a_worker_retires(self, name: str) -> None:
        self.router.worker_retires(name)
        self.retired.add(name)

    @rule()
    def jobs_are_assigned(self) -> None:
        for assigned in self.router.assign_all(self.now):
            begin, until = PARTS[assigned.worker]
            assert assigned.worker not in self.retired
            assert (assigned.passing.cut if assigned.passing else "") == begin
            assert assigned.until == until
            self.jobs.append(assigned)

    @rule()
    def workers_are_quick(self) -> None:
        for assigned in self.router.assign_all(self.now):
            self.jobs.append(assigned)
            self.answer(assigned, "")

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), fails=st.sampled_from(["", "", "device_error", "not_finite"]))
    def a_worker_answers_perhaps_too_late(self, data: st.DataObject, fails: str) -> None:
        self.answer(data.draw(st.sampled_from(self.jobs)), fails)

    def answer(self, job: Assigned, fails: str) -> None:
        answered = self.router.answered(job.job, job.worker, self.now)
        if answered and answered.until and not fails:
            self.router.passed_on(answered, b"features", leg_of(answered.worker))
            return
        legs = [*answered.legs, leg_of(answered.worker)] if answered else []
        for held in answered.frames if answered else ():
            if fails == "device_error":
                self.router.lost(held, fails, self.now)
            elif fails:
                self.router.dropped(held, fails)
            elif self.router.is_stale(held, self.now):
                self.router.dropped(held, "stale")
            else:
                self.router.predicted(held)
                self.published.append(held)
                assert is_whole(legs)

    @rule()
    def deadlines_are_kept(self) -> None:
        for assigned in self.router.overdue(self.now):
            self.router.give_up(assigned.job, "deadline", self.now)
        assert (self.router.next_deadline_ns() or self.now + 1) > self.now

    @invariant()
    def every_frame_is_accounted_for(self) -> None:
        for name, camera in self.router.cameras.items():
            ledger = camera.ledger
            in_flight = sum(
                held.frame.camera == name for job in self.router.jobs.in_flight.values() for held in job.frames
            )
            between = sum(held.frame.camera == name for held in self.router.between.frames)
            assert ledger.pending == len(camera.slot) + between + in_flight
            assert ledger.captured == self.earlier[name] + self.told[name]
            assert ledger.captured == ledger.predicted + sum(ledger.dropped.values()) + ledger.pending
            assert all(count > 0 for count in ledger.dropped.values())

    @invariant()
    def a_live_camera_keeps_the_newest_and_one_that_waits_loses_none_to_time(self) -> None:
        for name in ("door", "gate"):
            assert len(self.router.cameras[name].slot) <= KEEP
        assert not {"superseded", "stale"} & self.router.cameras["folder"].ledger.dropped.keys()

    @invariant()
    def no_worker_has_more_than_its_credit(self) -> None:
        for name, capacity in self.router.jobs.workers.items():
            jobs = [job for job in self.router.jobs.in_flight.values() if job.worker == name]
            assert len(jobs) <= capacity.credit or name in self.retired
            assert all(1 <= len(job.frames) <= capacity.batch for job in jobs)

    @invariant()
    def no_frame_is_published_twice_or_tried_three_times(self) -> None:
        published = Counter(id(held.frame) for held in self.published)
        tried = Counter(id(held.frame) for job in self.jobs if not job.passing for held in job.frames)
        assert max(published.values(), default=0) <= 1
        assert max(tried.values(), default=0) <= 2

    def teardown(self) -> None:
        self.router.give_up_all("shutdown")
        for camera in self.router.cameras.values():
            assert camera.ledger.captured == camera.ledger.predicted + sum(camera.ledger.dropped.values())
        assert self.router.idle


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
