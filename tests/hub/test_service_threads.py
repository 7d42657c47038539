"""Threads of the hub that fail: each is reported, counted and started again."""

import os
import threading
from collections.abc import Callable

from edged.clock import NANOSECONDS, now_ns
from tests.eventually import eventually
from tests.hub.pipeline import new_services


class Failing:
    """A service that fails so many times, and then serves until it is stopped."""

    def __init__(
        self, failures: int, error: Callable[[], BaseException] = lambda: ValueError("no such row")
    ) -> None:
        self.starts = 0
        self.stopped = threading.Event()
        self._failures = failures
        self._error = error

    def __call__(self) -> None:
        self.starts += 1
        if self.starts <= self._failures:
            raise self._error()
        self.stopped.wait()


def test_a_service_that_fails_is_reported_with_the_line_and_starts_again() -> None:
    services, service = new_services(), Failing(1)
    thread = services.start("replay", service)
    eventually(lambda: services.failed == ["replay"])
    (failed,) = services.notices(now_ns())
    assert failed.event == "service_failed"
    assert failed.message.startswith("service replay failed: ValueError: no such row (test_service_threads.py:")
    assert failed.is_bad
    eventually(lambda: service.starts == 2)
    service.stopped.set()
    thread.join()


def test_a_service_takes_no_processor_from_the_thread_that_wakes_it() -> None:
    services, policies = new_services(), list[int]()
    services.start("journal", lambda: policies.append(os.sched_getscheduler(0))).join()
    assert policies == [os.SCHED_BATCH]
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_it_counts_as_failed_until_it_has_run_for_a_second() -> None:
    services, service = new_services(), Failing(1)
    thread = services.start("replay", service)
    eventually(lambda: service.starts == 2)
    now = now_ns()
    assert [each.event for each in services.notices(now)] == ["service_failed"]
    assert services.failed == ["replay"]
    assert [each.event for each in services.notices(now + 2 * NANOSECONDS)] == ["service_recovered"]
    assert services.failed == []
    service.stopped.set()
    thread.join()


def test_nothing_that_is_raised_ends_a_service() -> None:
    services, service = new_services(), Failing(1, SystemExit)
    thread = services.start("guard", service, longest_wait_s=0.01)
    eventually(lambda: service.starts == 2)
    service.stopped.set()
    thread.join()


def test_at_the_end_of_the_hub_a_failure_is_the_end_of_the_thread() -> None:
    services = new_services()
    services.close()
    service = Failing(1)
    services.start("replay", service).join()
    assert service.starts == 1
    assert services.notices(now_ns()) == []
