"""A network in segments: which worker goes on with which frames, and what becomes of those that are lost."""

from edged.hub.frames.jobs import Assigned, Capacity
from edged.hub.frames.queues import StageResult
from edged.hub.frames.router import Router
from edged.messages import Features
from tests.hub.frames import HELLO, CameraEnd, hello_of, next_job

FRONT = Capacity(credit=2, batch=1, until="stage2")
BACK = Capacity(credit=2, batch=1, begin="stage2")
LEG = StageResult(HELLO, Features(job=1, upload_s=0, forward_s=0, download_s=0))


def a_router(*, keep: int = 5, frames: int = 0, batch: int = 1) -> Router:
    """With a worker at each of two parts, and frames that wait."""
    router = Router(["door"], keep=keep, max_age_ns=500, deadline_ns=300)
    router.camera_started(hello_of("door"))
    router.worker_joins("front", Capacity(credit=2, batch=batch, until="stage2"))
    router.worker_joins("back", Capacity(credit=2, batch=batch, begin="stage2"))
    door = CameraEnd("door")
    for at_ns in range(frames):
        router.frame_arrived(door.frame(at_ns), at_ns)
    return router


def assign(router: Router, now_ns: int = 10) -> Assigned:
    assigned = next_job(router, now_ns)
    assert assigned
    return assigned


def pass_on(router: Router, assigned: Assigned, now_ns: int = 20) -> None:
    """Its worker answers with features."""
    answered = router.answered(assigned.job, assigned.worker, now_ns)
    assert answered
    router.passed_on(answered, b"features of %d" % answered.frames[0].frame.frame, LEG)


def dropped(router: Router) -> dict[str, int]:
    return router.cameras["door"].ledger.dropped


def test_what_the_first_part_gives_is_the_next_ones_job_before_any_new_frame() -> None:
    router = a_router(frames=2)
    first = assign(router)
    pass_on(router, first)
    second = assign(router)
    assert (first.worker, second.worker) == ("front", "back")
    assert second.passing
    assert second.passing.features == b"features of 0"
    assert second.frames == first.frames
    assert list(second.legs) == [LEG]


def test_two_workers_have_different_frames_at_once() -> None:
    router = a_router(frames=2)
    pass_on(router, assign(router))
    assigned = {each.worker: each.frames[0].frame.frame for each in (assign(router), assign(router))}
    assert assigned == {"back": 0, "front": 1}


def test_no_more_is_on_its_way_to_a_cut_than_who_is_behind_it_can_take() -> None:
    router = a_router(frames=5)
    for each in (assign(router), assign(router)):
        pass_on(router, each)
    # two that the one behind may have in hand, and one for who is before it
    assert [assign(router).worker for _ in range(2)] == ["back", "back"]
    third = assign(router)
    assert third.worker == "front"
    assert next_job(router, 30) is None
    pass_on(router, third)
    assert next_job(router, 30) is None


def test_nothing_is_begun_while_nobody_is_there_to_go_on_with_it() -> None:
    router = a_router(frames=1)
    router.worker_retires("back")
    assert next_job(router, 10) is None
    router.worker_joins("back", BACK)
    assert assign(router).worker == "front"


def test_a_frame_that_grows_old_between_two_segments_is_dropped_there() -> None:
    router = a_router(frames=1)
    pass_on(router, assign(router))
    assert next_job(router, 501) is None
    assert dropped(router) == {"stale": 1}
    assert router.idle


def test_the_frame_of_a_part_whose_worker_is_lost_starts_again_from_its_pixels() -> None:
    router = a_router(frames=1)
    pass_on(router, assign(router))
    at_back = assign(router)
    router.worker_left("back", "worker_lost", 30)
    router.worker_left("front", "worker_lost", 30)
    router.worker_joins("local-2", Capacity(credit=2, batch=1))
    again = assign(router, 40)
    assert (again.worker, again.passing, again.frames[0].pixels) == ("local-2", None, at_back.frames[0].pixels)
    router.worker_left("local-2", "worker_lost", 50)
    assert dropped(router) == {"worker_lost": 1}


def test_what_waits_for_a_worker_that_is_lost_starts_again_too() -> None:
    router = a_router(frames=1)
    pass_on(router, assign(router))
    router.worker_left("back", "worker_lost", 30)
    router.worker_retires("front")
    router.worker_joins("local-2", Capacity(credit=2, batch=1))
    assert assign(router, 40).worker == "local-2"
    assert dropped(router) == {}


def test_features_go_to_nobody_who_begins_elsewhere() -> None:
    router = a_router(frames=1)
    pass_on(router, assign(router))
    router.worker_joins("back", Capacity(credit=2, batch=1, begin="stage3"))  # the config has changed meanwhile
    router.worker_joins("front", Capacity(credit=2, batch=1, until="stage3"))
    again = assign(router, 30)
    assert (again.worker, again.passing, again.until) == ("front", None, "stage3")


def test_each_part_has_a_deadline_of_its_own() -> None:
    router = a_router(frames=1)
    pass_on(router, assign(router, 100), 350)
    assign(router, 350)
    assert router.next_deadline_ns() == 650


def test_frames_of_a_job_stay_together_to_the_end() -> None:
    router = a_router(frames=3, batch=3)
    first = assign(router)
    pass_on(router, first)
    assert assign(router).frames == first.frames


def test_a_job_that_is_too_large_for_who_comes_next_starts_again() -> None:
    router = a_router(frames=3, batch=3)
    pass_on(router, assign(router))
    router.worker_joins("front", FRONT)
    router.worker_joins("back", BACK)
    assert len(assign(router, 30).frames) == 1


def test_what_is_nearest_to_its_end_comes_first() -> None:
    router = a_router(frames=2)
    router.worker_joins("back", Capacity(credit=1, batch=1, begin="stage2", until="stage4"))
    router.worker_joins("last", Capacity(credit=1, batch=1, begin="stage4"))
    first, second = assign(router), assign(router)
    pass_on(router, first)
    middle = assign(router)
    pass_on(router, second)
    pass_on(router, middle)
    assert [assign(router).worker for _ in range(2)] == ["last", "back"]
