"""The way of a cache line between two processors; no test here judges how long it is."""

import os

import psutil
import pytest

from edged.system import handoff
from edged.system.handoff import handoff_s


def test_a_look_leaves_neither_a_process_nor_a_bound_thread() -> None:
    before = os.sched_getaffinity(0)
    first, *others = sorted(before)

    seconds = handoff_s(first, others[0] if others else first)

    assert 0 <= seconds < 1
    assert os.sched_getaffinity(0) == before
    assert psutil.Process().children() == []


def test_a_processor_that_does_not_answer_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handoff, "_answer", lambda line, processor: os._exit(0))
    first = min(os.sched_getaffinity(0))

    assert handoff_s(first, first) == 0
