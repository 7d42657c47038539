from dataclasses import replace

import msgspec

from edged.hub.frames.jobs import Assigned, Capacity
from edged.hub.frames.queues import Held
from edged.hub.frames.router import Router
from tests.hub.frames import CameraEnd, hello_of, next_job


def a_router(*cameras: str, keep: int = 1) -> Router:
    router = Router(cameras, keep=keep, max_age_ns=500, deadline_ns=300)
    for name in cameras:
        router.camera_started(hello_of(name))
    return router


def numbers(assigned: Assigned | None) -> list[tuple[str, int]]:
    assert assigned
    return [(held.frame.camera, held.frame.frame) for held in assigned.frames]


def test_the_newest_frame_waits_and_the_one_before_is_dropped() -> None:
    router, door = a_router("door"), CameraEnd("door")
    for at_ns in (10, 20, 30):
        router.frame_arrived(door.frame(at_ns), at_ns)
    router.worker_joins("local-0", Capacity(credit=2, batch=1))
    assert numbers(next_job(router, 40)) == [("door", 2)]
    assert router.cameras["door"].ledger.dropped == {"superseded": 2}


def test_a_worker_never_holds_more_jobs_than_its_credit() -> None:
    router, door = a_router("door", keep=5), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=2, batch=1))
    for at_ns in range(5):
        router.frame_arrived(door.frame(at_ns), at_ns)
    first, second = next_job(router, 10), next_job(router, 10)
    assert next_job(router, 10) is None
    assert first
    assert second
    assert router.answered(first.job, "local-0", 20) is first
    assert numbers(next_job(router, 10)) == [("door", 2)]


def test_the_camera_that_has_waited_longest_comes_first_however_fast_the_other_one_is() -> None:
    router = a_router("fast", "slow")
    fast, slow = CameraEnd("fast"), CameraEnd("slow")
    router.worker_joins("local-0", Capacity(credit=1, batch=1))
    served = []
    for now in range(0, 120, 10):
        router.frame_arrived(fast.frame(now), now)
        if now % 20 == 0:
            router.frame_arrived(slow.frame(now), now)
        if now % 20 == 10:
            assigned = next_job(router, now)
            served += numbers(assigned)
            assert assigned
            router.answered(assigned.job, "local-0", 20)
    assert [name for name, _ in served] == ["fast", "slow"] * 3


def test_a_job_carries_a_frame_of_each_camera_up_to_the_batch() -> None:
    router = a_router("one", "two", "three", keep=2)
    for name in ("one", "two", "three"):
        end = CameraEnd(name)
        router.frame_arrived(end.frame(1), 1)
        router.frame_arrived(end.frame(2), 2)
    router.worker_joins("local-0", Capacity(credit=1, batch=4))
    assert numbers(next_job(router, 3)) == [("one", 0), ("two", 0), ("three", 0), ("one", 1)]


def test_a_frame_that_is_too_old_is_dropped_before_it_is_sent() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.frame_arrived(door.frame(0), 0)
    router.worker_joins("local-0", Capacity(credit=1, batch=1))
    assert next_job(router, 501) is None
    assert router.cameras["door"].ledger.dropped == {"stale": 1}


def test_the_frame_of_a_lost_worker_goes_to_the_next_and_the_late_answer_counts_for_nothing() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=2, batch=1))
    router.frame_arrived(door.frame(0), 0)
    assigned = next_job(router, 0)
    assert assigned
    router.worker_left("local-0", "worker_lost", 100)
    assert router.answered(assigned.job, "local-0", 120) is None
    router.worker_joins("local-1", Capacity(credit=2, batch=1))
    assert numbers(next_job(router, 130)) == [("door", 0)]
    assert router.cameras["door"].ledger.dropped == {}


def test_a_frame_is_tried_twice_and_not_three_times() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.frame_arrived(door.frame(0), 0)
    for reason in ("deadline", "worker_lost"):
        router.worker_joins("local-0", Capacity(credit=2, batch=1))
        assert next_job(router, 0)
        router.worker_left("local-0", reason, 10)
    assert router.idle
    assert router.cameras["door"].ledger.dropped == {"worker_lost": 1}


def test_a_frame_of_another_host_counts_as_old_as_it_may_be() -> None:
    router, door = a_router("door"), CameraEnd("door")
    sure = door.frame(at_ns=100)
    unsure = replace(sure, frame=msgspec.structs.replace(sure.frame, clock_error_s=200e-9))
    assert [router.is_stale(held, 450) for held in (sure, unsure)] == [False, True]


def test_a_frame_that_is_stale_when_its_worker_is_lost_is_not_tried_again() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=2, batch=1))
    router.frame_arrived(door.frame(0), 0)
    assert next_job(router, 0)
    router.worker_left("local-0", "worker_lost", 501)
    assert router.cameras["door"].ledger.dropped == {"worker_lost": 1}


def test_a_frame_that_comes_back_never_displaces_a_newer_one() -> None:
    router, door = a_router("door", keep=2), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=2, batch=1))
    for at_ns in range(3):
        router.frame_arrived(door.frame(at_ns), at_ns)
        next_job(router, at_ns)
    router.worker_left("local-0", "worker_lost", 10)  # with frames 0 and 1, while frame 2 waits
    assert router.cameras["door"].ledger.dropped == {"worker_lost": 1}
    router.worker_joins("local-0", Capacity(credit=2, batch=2))
    assert numbers(next_job(router, 20)) == [("door", 1), ("door", 2)]


def test_a_frame_that_came_back_and_is_then_superseded_was_lost_with_its_worker() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=1, batch=1))
    router.frame_arrived(door.frame(0), 0)
    next_job(router, 0)
    router.worker_left("local-0", "worker_lost", 10)
    router.frame_arrived(door.frame(20), 20)
    assert router.cameras["door"].ledger.dropped == {"worker_lost": 1}


def test_frames_that_come_back_to_a_camera_that_waits_are_not_granted_again() -> None:
    router, folder = a_router("folder", keep=1), CameraEnd("folder")
    router.camera_started(hello_of("folder", waits=True))
    router.worker_joins("local-0", Capacity(credit=2, batch=1))
    for _ in range(2):
        assert router.grants() == {"folder": 1}
        router.frame_arrived(folder.frame(0), 0)
        assert next_job(router, 0)
    assert router.grants() == {"folder": 1}
    router.worker_left("local-0", "worker_lost", 10_000)
    router.frame_arrived(folder.frame(0), 10_000)  # three frames in one place, and none is lost
    router.worker_joins("local-0", Capacity(credit=3, batch=1))
    assert [numbers(next_job(router, 10_000)) for _ in range(3)] == [[("folder", n)] for n in range(3)]
    assert router.grants() == {"folder": 1}
    assert router.cameras["folder"].ledger.dropped == {}


def test_a_worker_that_retires_answers_what_it_has_and_gets_nothing_more() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-1", Capacity(credit=2, batch=1))
    router.frame_arrived(door.frame(0), 0)
    assigned = next_job(router, 0)
    assert assigned
    router.worker_retires("local-1")
    router.frame_arrived(door.frame(10), 10)
    assert next_job(router, 10) is None
    assert router.has_jobs("local-1")
    assert router.answered(assigned.job, "local-1", 20) is assigned
    assert not router.has_jobs("local-1")


def test_a_worker_that_is_slow_by_nature_has_the_time_that_it_needs() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=1, batch=1, patience_ns=1000))
    router.frame_arrived(door.frame(0), 0)
    next_job(router, 0)
    assert router.next_deadline_ns() == 1000


def test_only_the_worker_that_has_the_job_can_answer_it() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=1, batch=1))
    router.frame_arrived(door.frame(0), 0)
    assigned = next_job(router, 0)
    assert assigned
    assert router.answered(assigned.job, "local-1", 20) is None
    assert router.answered(assigned.job, "local-0", 20) is assigned


def test_a_job_is_overdue_at_its_deadline() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=1, batch=1))
    router.frame_arrived(door.frame(0), 0)
    assigned = next_job(router, 100)
    assert router.next_deadline_ns() == 400
    assert router.overdue(399) == []
    assert router.overdue(400) == [assigned]


def test_the_time_of_a_job_begins_when_the_one_before_it_is_answered() -> None:
    router, door = a_router("door", keep=2), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=2, batch=1))
    for _ in range(2):
        router.frame_arrived(door.frame(100), 100)
    first, second = next_job(router, 100), next_job(router, 100)
    assert first
    router.answered(first.job, "local-0", 350)
    assert router.overdue(649) == []
    assert router.overdue(650) == [second]


def test_a_camera_that_waits_is_granted_a_frame_for_each_place_and_none_is_dropped() -> None:
    router, folder = a_router("folder", keep=2), CameraEnd("folder")
    router.camera_started(hello_of("folder", waits=True))
    router.worker_joins("local-0", Capacity(credit=1, batch=1))
    assert router.grants() == {"folder": 2}
    assert router.grants() == {}
    held: list[Held] = [folder.frame(0), folder.frame(0)]
    for each in held:
        router.frame_arrived(each, 0)
    assert router.grants() == {}
    assigned = next_job(router, 10_000)  # long after a live frame would be stale
    assert numbers(assigned) == [("folder", 0)]
    assert router.grants() == {"folder": 1}
    assert not router.is_stale(held[0], 10_000)
    assert router.cameras["folder"].ledger.dropped == {}


def test_frames_that_are_requests_are_granted_and_get_too_old() -> None:
    router, frigate = a_router("frigate", keep=2), CameraEnd("frigate")
    router.camera_started(hello_of("frigate", waits=True, is_asked=True))
    assert router.grants() == {"frigate": 2}
    router.frame_arrived(frigate.frame(0), 0)

    assert next_job(router, 10_000) is None

    assert router.cameras["frigate"].ledger.dropped == {"stale": 1}
    assert router.grants() == {"frigate": 1}


def test_what_waits_after_a_camera_has_started_again_is_granted_later() -> None:
    router, folder = a_router("folder", keep=2), CameraEnd("folder")
    router.camera_started(hello_of("folder", waits=True))
    router.frame_arrived(folder.frame(0), 0)
    router.camera_started(hello_of("folder", run="second", waits=True))
    assert router.grants() == {"folder": 1}
    router.worker_joins("local-0", Capacity(credit=1, batch=1))
    assert next_job(router, 0)
    assert router.grants() == {"folder": 1}


def test_an_idle_worker_gets_a_frame_at_once_and_a_busy_one_then_all_that_came_meanwhile() -> None:
    router, door, yard = a_router("door", "yard"), CameraEnd("door"), CameraEnd("yard")
    router.worker_joins("local-0", Capacity(credit=1, batch=2))
    router.frame_arrived(door.frame(0), 0)
    first = next_job(router, 0)
    assert numbers(first) == [("door", 0)]
    router.frame_arrived(door.frame(10), 10)
    router.frame_arrived(yard.frame(20), 20)
    assert first
    assert next_job(router, 20) is None
    router.answered(first.job, "local-0", 30)
    assert numbers(next_job(router, 30)) == [("yard", 0), ("door", 1)]


def test_frames_wait_for_others_to_fill_a_job() -> None:
    router, door, yard = a_router("door", "yard"), CameraEnd("door"), CameraEnd("yard")
    router.worker_joins("local-0", Capacity(credit=1, batch=2, gather_ns=20))
    router.frame_arrived(door.frame(0), 0)
    assert next_job(router, 19) is None
    assert router.next_due_ns() == 20
    router.frame_arrived(yard.frame(19), 19)
    assert numbers(next_job(router, 19)) == [("door", 0), ("yard", 0)]


def test_no_frame_waits_for_others_past_half_of_its_age() -> None:
    router, door = a_router("door"), CameraEnd("door")
    router.worker_joins("local-0", Capacity(credit=1, batch=8, gather_ns=10**9))
    router.frame_arrived(door.frame(0), 0)
    half = router.next_due_ns()
    assert half is not None
    assert next_job(router, half - 1) is None
    assert next_job(router, half)
