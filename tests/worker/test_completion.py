"""Who waits for the device: the thread that submits, if that takes no time to speak of, or another one."""

import select
import threading
import time
from dataclasses import dataclass, field

from edged.messages import Job
from edged.model.model_part import ModelPart
from edged.runtime.base import Result
from edged.runtime.numpy_runtime import NumpyPending
from edged.worker.completion import Completed, Completions
from tests.eventually import LIMIT_S, eventually
from tests.worker.networks import INPUT, dense_network, pictures


@dataclass(frozen=True, eq=False)
class Pending(NumpyPending):
    """A job of a device that computes when it is submitted, or later."""

    computed: bool = False
    takes_s: float = 0.0
    waited_in: list[threading.Thread] = field(default_factory=list)

    @property
    def is_computed(self) -> bool:
        return self.computed

    def wait(self) -> Result:  # type: ignore[override]
        self.waited_in.append(threading.current_thread())
        time.sleep(self.takes_s)
        return super().wait()


def pending(*, computed: bool = False, takes_s: float = 0.0) -> Pending:
    return Pending(ModelPart(dense_network(), INPUT), pictures(1), computed=computed, takes_s=takes_s)


def job(number: int) -> Job:
    return Job(job=number, frames=1, top=1, timeout_s=60)


def next_of(completions: Completions, within_s: float) -> Completed | None:
    readable, _, _ = select.select([completions], [], [], within_s)
    return completions.pop() if readable else None


def test_a_job_that_is_computed_when_it_is_submitted_needs_no_other_thread() -> None:
    completions, done = Completions(waits_for_quick_jobs=False), pending(computed=True)

    completions.add(job(7), done)

    completed = next_of(completions, within_s=0)
    assert completed
    assert completed.job.job == 7
    assert done.waited_in == [threading.current_thread()]
    assert not completions.in_flight
    completions.close()


def test_all_others_are_waited_for_in_another_thread_and_in_order() -> None:
    completions, first, second = Completions(waits_for_quick_jobs=True), pending(), pending(computed=True)

    completions.add(job(1), first)
    completions.add(job(2), second)

    order = [next_of(completions, within_s=LIMIT_S), next_of(completions, within_s=LIMIT_S)]
    assert [each and each.job.job for each in order] == [1, 2]
    assert threading.current_thread() not in first.waited_in + second.waited_in
    completions.close()


def thread_of_next(completions: Completions, job_: Pending) -> threading.Thread:
    """Compute a job alone, and return the thread that has waited for it."""
    completions.add(job(1), job_)
    assert next_of(completions, within_s=LIMIT_S)
    return job_.waited_in[0]


def test_after_a_quick_job_the_thread_that_submits_waits_itself() -> None:
    completions, here = Completions(waits_for_quick_jobs=True), threading.current_thread()

    eventually(lambda: thread_of_next(completions, pending()) is here)  # a busy machine makes some jobs slow
    completions.close()


def test_after_a_slow_job_another_thread_waits() -> None:
    completions, here = Completions(waits_for_quick_jobs=True), threading.current_thread()
    eventually(lambda: thread_of_next(completions, pending()) is here)

    thread_of_next(completions, pending(takes_s=0.02))

    assert thread_of_next(completions, pending()) is not here
    completions.close()


def test_beside_a_gpu_another_thread_always_waits() -> None:
    completions, here = Completions(waits_for_quick_jobs=False), threading.current_thread()

    assert here not in [thread_of_next(completions, pending()) for _ in range(20)]
    completions.close()
