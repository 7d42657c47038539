"""A device's clock, told from what its host saw of its jobs."""

from edged.messages import DeviceTimes, JobTimes, TraceBatch
from edged.tracing.frames import device_clock, stages_of
from edged.tracing.recording import RecordedProcess

AHEAD = 5_000  # by so much the device's clock is before its host's


def job(number: int, *, handed_over_ns: int, woken_ns: int, has_clock: bool = True) -> JobTimes:
    """The device begins so long after the job came, and the host has the result so long after it is through."""
    begun = 1_000 * number
    upload = begun + handed_over_ns + AHEAD
    device = DeviceTimes(
        upload=(upload, upload + 10), forward=(upload + 10, upload + 110), download=(upload + 110, upload + 120)
    )
    done = begun + handed_over_ns + 120 + woken_ns
    return JobTimes(
        job=number,
        frames=1,
        begun_ns=begun,
        submitted_ns=begun + 20,
        done_ns=done,
        taken_ns=done + 5,
        answered_ns=done + 9,
        upload_s=10e-9,
        forward_s=100e-9,
        download_s=10e-9,
        device=device if has_clock else None,
    )


def test_the_quickest_jobs_tell_it_best_and_how_far_it_may_be_off() -> None:
    slow, quick = job(1, handed_over_ns=40, woken_ns=300), job(2, handed_over_ns=30, woken_ns=50)

    clock = device_clock([slow, quick])

    assert clock is not None
    assert clock.offset_ns == -AHEAD + 50
    assert clock.error_ns == 30 + 50
    assert 0 <= clock.offset_ns - -AHEAD <= clock.error_ns


def test_a_worker_of_another_host_is_moved_to_the_hubs_clock_by_the_best_guess_of_all() -> None:
    worker = RecordedProcess()
    one = job(1, handed_over_ns=0, woken_ns=0)
    worker.add(TraceBatch(jobs=(one,), offset_ns=90, error_ns=20))
    worker.add(TraceBatch(offset_ns=100, error_ns=10))
    worker.add(TraceBatch(offset_ns=110, error_ns=30))

    (stages,) = stages_of(worker)

    assert stages.begun_ns == one.begun_ns + 100
    assert stages.forward == (one.begun_ns + 110, one.begun_ns + 210)


def test_without_a_clock_of_its_own_the_forward_pass_ends_with_the_result() -> None:
    worker = RecordedProcess(jobs=[job(1, handed_over_ns=0, woken_ns=0, has_clock=False)])

    (stages,) = stages_of(worker)

    assert device_clock(worker.jobs) is None
    assert stages.forward == (stages.done_ns - 100, stages.done_ns)
    assert stages.upload[1] - stages.upload[0] == stages.download[1] - stages.download[0] == 0
