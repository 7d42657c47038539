"""Which workers serve, with processes that do nothing in the place of workers."""

from collections.abc import Iterator
from functools import partial
from signal import SIGKILL

import pytest

from edged.clock import now_ns
from edged.config import RecoveryConfig
from edged.hub.children.child import Child
from edged.hub.workers.failover import Group, GroupChoice
from edged.hub.workers.slot import WorkerSlot
from tests.eventually import eventually

SOON = RecoveryConfig(losses=1, retry_device_s=0.01)


def slot(name: str) -> WorkerSlot:
    return WorkerSlot(name, "cpu", SOON, lambda: Child(f"worker/{name}", ("sleep", "60")), alone=False)


@pytest.fixture
def slots() -> Iterator[tuple[WorkerSlot, WorkerSlot]]:
    first, second = slot("first"), slot("second")
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
