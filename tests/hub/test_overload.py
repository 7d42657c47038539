"""More frames than a worker manages, on a clock of the test's own: what the router promises, exactly."""

import random
from collections import Counter

import pytest

from edged.hub.frames.jobs import Assigned, Capacity
from edged.hub.frames.queues import Held
from edged.hub.frames.router import Router
from tests.hub.frames import CameraEnd, hello_of

MS = 1_000_000
FRAME_NS = 1000 * MS // 60
FORWARD_NS = 50 * MS
CREDIT = 2
SECONDS = 20


class Overload:
    """Three cameras at 60 frames a second, with a little jitter, and a worker that manages 20.

    `can_be_held`: the cameras prepare nothing while the hub requests it. `late`: a camera whose pictures come so
    late at times that it misses its turn, by up to so much.
    """

    def __init__(self, seed: int, *, can_be_held: bool = False, late: str = "", late_ns: int = 0) -> None:
        self.late, self.late_ns = late, late_ns
        self.chance = random.Random(seed)  # noqa: S311
        self.ends = [CameraEnd(name) for name in ("door", "gate", "hall")]
        names = [end.name for end in self.ends]
        self.router = Router(names, keep=1, max_age_ns=500 * MS, deadline_ns=2000 * MS)
        for name in names:
            self.router.camera_started(hello_of(name, can_be_held=can_be_held))
        self.router.worker_joins("local-0", Capacity(CREDIT, batch=1))
        self.next_frame_ns = [self.chance.randrange(FRAME_NS) for _ in self.ends]
        self.held_until_ns = dict.fromkeys(names, 0)
        self.prepared = 0
        self.in_hand: list[Assigned] = []
        self.done_ns = 0
        self.ages_ns: list[int] = []  # when a worker takes a frame
        self.totals_ns: list[tuple[str, int]] = []  # from capture to answer

    def run(self) -> None:
        now = 0
        while now < SECONDS * 1000 * MS:
            now = min([*self.next_frame_ns, *([self.done_ns] if self.in_hand else [])])
            if self.in_hand and now == self.done_ns:
                self.answer(now)
            for place, end in enumerate(self.ends):
                if now == self.next_frame_ns[place]:
                    self.deliver(end, now)
                    self.next_frame_ns[place] += self.chance.randint(FRAME_NS - 3 * MS, FRAME_NS)
                    if end.name == self.late:
                        self.next_frame_ns[place] += self.chance.randrange(self.late_ns)
            for assigned in self.router.assign_all(now):
                self.take(assigned, now)
            self.held_until_ns |= self.router.holds.changed
            self.router.holds.changed.clear()

    def deliver(self, end: CameraEnd, now: int) -> None:
        if now < self.held_until_ns[end.name]:
            end.drop("superseded")
            return
        self.prepared += 1
        self.router.frame_arrived(end.frame(now), now)

    def take(self, assigned: Assigned, now: int) -> None:
        self.ages_ns.append(now - _frame(assigned).frame.captured_ns)
        if not self.in_hand:
            self.done_ns = now + FORWARD_NS
        self.in_hand.append(assigned)

    def answer(self, now: int) -> None:
        assigned = self.in_hand.pop(0)
        assert self.router.answered(assigned.job, "local-0", now) is assigned
        held = _frame(assigned)
        self.router.predicted(held)
        self.totals_ns.append((held.frame.camera, now - held.frame.captured_ns))
        self.done_ns = now + FORWARD_NS


def _frame(assigned: Assigned) -> Held:
    return assigned.frames[0]


@pytest.mark.parametrize("can_be_held", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_newest_frames_win_and_every_other_one_is_counted(seed: int, can_be_held: bool) -> None:
    overload = Overload(seed, can_be_held=can_be_held)
    overload.run()
    # a frame is at most as old as its camera is slow, and waits in the worker's hands for one forward pass
    assert max(overload.ages_ns) <= FRAME_NS
    assert max(total for _, total in overload.totals_ns) <= FRAME_NS + CREDIT * FORWARD_NS
    served = Counter(camera for camera, _ in overload.totals_ns)
    assert max(served.values()) - min(served.values()) <= 1
    assert sum(served.values()) == pytest.approx(SECONDS * 20, abs=2)
    for end in overload.ends:
        ledger = overload.router.cameras[end.name].ledger
        assert ledger.captured == ledger.predicted + sum(ledger.dropped.values()) + ledger.pending
        assert ledger.dropped.keys() == {"superseded"}


@pytest.mark.parametrize("can_be_held", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_camera_that_misses_turns_makes_up_for_them(seed: int, can_be_held: bool) -> None:
    overload = Overload(seed, can_be_held=can_be_held, late="gate", late_ns=150 * MS)
    overload.run()
    served = Counter(camera for camera, _ in overload.totals_ns)
    assert min(served.values()) >= 0.9 * max(served.values())


def test_cameras_that_can_be_held_prepare_what_will_be_taken() -> None:
    overload = Overload(1, can_be_held=True)
    overload.run()
    assert len(overload.totals_ns) <= overload.prepared < 2.5 * len(overload.totals_ns)
    assert sum(end.captured for end in overload.ends) > 8 * len(overload.totals_ns)
