"""When the hub holds cameras back whose frames no worker would take."""

from edged.hub.frames.jobs import Assigned, Capacity
from edged.hub.frames.router import Router
from tests.hub.frames import CameraEnd, hello_of, next_job

MS = 1_000_000
INTERVAL_NS, FORWARD_NS = 40 * MS, 100 * MS


class Busy:
    """A worker that takes so long for a frame, and cameras of this host that capture 25 a second, and of others.

    `holds`: how long each was held, in ns from when the hub asked for it, in their order.
    """

    def __init__(self, *cameras: str, remote: tuple[str, ...] = (), forward_ns: int = FORWARD_NS) -> None:
        self.forward_ns = forward_ns
        names = [*cameras, *remote]
        self.router = Router(names, keep=1, max_age_ns=1000 * MS, deadline_ns=5000 * MS)
        self.ends = [CameraEnd(name) for name in names]
        for name in names:
            self.router.camera_started(hello_of(name, can_be_held=name in cameras))
        self.router.worker_joins("local-0", Capacity(credit=1, batch=1))
        self.job: Assigned | None = None
        self.now = 0
        self.until_ns = dict.fromkeys(names, 0)
        self.holds: dict[str, list[int]] = {}

    def run(self, seconds: float) -> None:
        end = self.now + round(seconds * 1000 * MS)
        while self.now < end:
            self.now += 10 * MS
            if self.now % INTERVAL_NS == 0:
                for camera in self.ends:
                    self.deliver(camera)
            if self.job and self.now - self.job.since_ns >= self.forward_ns:
                self.router.answered(self.job.job, "local-0", self.now)
                self.job = None
            self.job = next_job(self.router, self.now) or self.job
            while changed := self.router.holds.changed:
                name, until_ns = changed.popitem()
                self.until_ns[name] = until_ns
                self.holds.setdefault(name, []).append(until_ns - self.now)

    def deliver(self, camera: CameraEnd) -> None:
        if self.now < self.until_ns[camera.name]:
            camera.drop("superseded")
        else:
            self.router.frame_arrived(camera.frame(self.now), self.now)


def test_a_camera_is_held_until_a_picture_before_its_turn() -> None:
    busy = Busy("door", "yard", "gate", "hall")
    busy.run(0.1)
    assert not busy.holds, "few frames were replaced"
    busy.run(3.0)
    turn_ns = len(busy.ends) * FORWARD_NS
    for held in busy.holds.values():
        assert turn_ns - FORWARD_NS - 2 * INTERVAL_NS <= held[-1] <= turn_ns - INTERVAL_NS


def test_a_camera_is_not_held_while_a_worker_waits_for_frames() -> None:
    busy = Busy("door", forward_ns=INTERVAL_NS // 2)
    busy.run(3.0)
    assert not busy.holds


def test_all_holds_end_when_no_frame_waits_for_a_worker() -> None:
    busy = Busy("door", "yard", "gate", "hall")
    busy.run(3.0)
    assert max(busy.until_ns.values()) > busy.now
    assert busy.job
    busy.router.worker_joins("local-1", Capacity(credit=9, batch=1))  # which takes all frames that wait
    while next_job(busy.router, busy.now):
        pass

    busy.router.answered(busy.job.job, "local-0", busy.now)

    assert busy.router.holds.changed == dict.fromkeys([camera.name for camera in busy.ends], 0)


def test_a_frame_that_was_on_its_way_when_its_camera_was_held_is_not_taken_when_it_is_old() -> None:
    busy = Busy("door", "yard", "gate", "hall")
    busy.run(3.0)
    held = next(camera for camera in busy.ends if busy.until_ns[camera.name] > busy.now)
    camera = busy.router.cameras[held.name]

    busy.router.frame_arrived(held.frame(busy.now), busy.now)

    assert not len(camera.slot)
    assert (
        camera.ledger.captured
        == camera.ledger.predicted + sum(camera.ledger.dropped.values()) + camera.ledger.pending
    )


def test_a_camera_of_another_host_is_never_held_but_has_its_turn() -> None:
    busy = Busy("door", remote=("far", "farther"))
    busy.run(3.0)
    assert busy.holds.keys() == {"door"}
    assert busy.holds["door"][-1] > FORWARD_NS


def test_a_camera_that_has_left_is_not_held_any_more() -> None:
    busy = Busy("door", "yard", "gate", "hall")
    busy.run(3.0)
    before = len(busy.holds["door"])
    busy.router.camera_left("door")
    busy.run(1.0)
    assert len(busy.holds["door"]) == before
