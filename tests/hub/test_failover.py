"""Which workers serve, with processes that do nothing in the place of workers."""

from collections.abc import Iterator
from functools import partial
from signal import SIGKILL
from typing import Any

import pytest

from edged.clock import nanoseconds, now_ns
from edged.config import RecoveryConfig
from edged.hub.children.child import Child
from edged.hub.workers.failover import GroupChoice
from edged.hub.workers.group import Group
from edged.hub.workers.slot import STARTS_IN_S, WorkerSlot
from tests.eventually import eventually

SOON = RecoveryConfig(losses=1, retry_device_s=0.01)


def slot(name: str, **options: Any) -> WorkerSlot:
    return WorkerSlot(name, "cpu", SOON, lambda: Child(f"worker/{name}", ("sleep", "60")), alone=False, **options)


@pytest.fixture
def slots(request: pytest.FixtureRequest) -> Iterator[tuple[WorkerSlot, WorkerSlot]]:
    """Two slots; the parameter, if there is one, has options of the first."""
    first, second = slot("first", **getattr(request, "param", {})), slot("second", compiles=False)
    yield first, second
    for child in (*first.children, *second.children):
        child.signal(SIGKILL)
        eventually(partial(has_ended, child))


def has_ended(child: Child) -> bool:
    return child.exit_code() is not None


def process_of(choice: GroupChoice, slot: WorkerSlot) -> Child:
    """Once it has one."""

    def children() -> list[Child]:
        list(choice.step(now_ns()))
        return slot.children

    return eventually(children)[0]


def test_a_device_that_is_being_tried_again_is_tried_anew_when_its_worker_gets_other_settings(
    slots: tuple[WorkerSlot, WorkerSlot],
) -> None:
    first, second = slots
    groups = [Group([[first]]), Group([[second]])]
    choice = GroupChoice(groups)
    process_of(choice, first).signal(SIGKILL)
    process_of(choice, second)
    choice.is_ready("second")
    tried = process_of(choice, first)

    choice.change(groups, {"first": "gpu"})

    eventually(lambda: process_of(choice, first) is not tried)
    choice.is_ready("first")
    assert choice.ready == {"first"}


@pytest.mark.parametrize(("slots", "at_once"), [({}, False), ({"starts_in_s": 0.0}, True)], indirect=["slots"])
def test_a_worker_without_kernels_starts_once_the_start_of_the_first_takes_long(
    slots: tuple[WorkerSlot, WorkerSlot], *, at_once: bool
) -> None:
    first, second = slots
    choice = GroupChoice([Group([[first]]), Group([[second]])])
    began_ns = process_of(choice, first).started_ns

    list(choice.step(began_ns))
    assert second.rests is not at_once

    list(choice.step(began_ns + nanoseconds(STARTS_IN_S)))
    process_of(choice, second)
    assert choice.ready == set()


def test_it_ends_where_the_first_is_ready_before_it(slots: tuple[WorkerSlot, WorkerSlot]) -> None:
    first, second = slots
    choice = GroupChoice([Group([[first]]), Group([[second]])])
    process_of(choice, first)
    list(choice.step(now_ns() + nanoseconds(STARTS_IN_S)))
    process_of(choice, second)

    assert choice.is_ready("first") == []

    eventually(lambda: list(choice.step(now_ns())) and not second.children)
    assert choice.ready == {"first"}
    assert not choice.is_fallback


def test_nothing_is_due_where_another_worker_of_the_group_answers(slots: tuple[WorkerSlot, WorkerSlot]) -> None:
    first, second = slots
    choice = GroupChoice([Group([[first, ready := slot("ready")]]), Group([[second]])])
    process_of(choice, first)
    child = process_of(choice, ready)
    late = now_ns() + nanoseconds(STARTS_IN_S)
    assert choice.next_due_ns() is not None

    choice.is_ready("ready")

    list(choice.step(late))
    assert choice.next_due_ns() is None
    assert second.rests
    child.signal(SIGKILL)
    eventually(partial(has_ended, child))


def test_a_worker_that_cannot_stand_in_starts_again_after_a_pause(slots: tuple[WorkerSlot, WorkerSlot]) -> None:
    first, second = slots
    choice = GroupChoice([Group([[first]]), Group([[second]])])
    process_of(choice, first)
    list(choice.step(now_ns() + nanoseconds(STARTS_IN_S)))
    for _ in range(2):  # at once at first
        process_of(choice, second).signal(SIGKILL)
        [lost] = eventually(lambda: list(choice.step(now_ns())))
        assert lost.event == "worker_lost"

    began_ns = now_ns()
    assert second.due_ns is not None
    assert choice.next_due_ns() == second.due_ns
    process_of(choice, second)
    assert now_ns() - began_ns > nanoseconds(0.1)
