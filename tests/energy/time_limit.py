"""A time limit on reading files that passes as soon as a reading can never end, and never before.

In place of seconds, which a busy machine takes for a file that is whole too.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

import pytest

from edged.energy import bounded, reader
from tests.eventually import TURN_S


def passes_at_pipes_alone(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let the limit pass where a pipe that nobody writes to is read; return the limits that have passed so far."""
    passed: list[float] = []

    class Answers(SimpleQueue[Any]):
        """What a thread that reads answers with."""

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if timeout is None:
                return super().get(block)
            while not is_at_a_pipe(self):
                with suppress(Empty):
                    return super().get(timeout=TURN_S)
            passed.append(timeout)
            raise Empty

    for module in (bounded, reader):
        monkeypatch.setattr(module, "SimpleQueue", Answers)
    return passed


def is_at_a_pipe(answers: "SimpleQueue[Any]") -> bool:
    """Whether the thread that answers there reads a pipe."""
    own = threading.get_ident()
    threads = [list(values_in(frame)) for ident, frame in sys._current_frames().items() if ident != own]
    return any(
        any(isinstance(each, Path) and each.is_fifo() for each in values)
        for values in threads
        if any(each is answers for value in values for each in (value, *vars_of(value)))
    )


def values_in(frame: FrameType | None) -> Iterator[object]:
    """Yield the local variables of a thread, from its newest function to its first."""
    while frame:
        yield from frame.f_locals.values()
        frame = frame.f_back


def vars_of(each: object) -> list[object]:
    return list(getattr(each, "__dict__", {}).values())
