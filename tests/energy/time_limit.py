"""A time limit on reading files that passes as soon as a reading can never end, and never before.

In place of seconds, which a busy machine takes for a file that is whole too.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from stat import S_ISFIFO
from types import FrameType
from typing import Any

import pytest

from edged.energy import bounded, reader
from tests.eventually import TURN_S


def passes_at_pipes_alone(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let the limit pass where a pipe that nobody writes to is read; return the limits that have passed so far."""
    passed: list[float] = []
    at_pipes: list[SimpleQueue[Any]] = []  # of threads that read one: where they will answer

    class Answers(SimpleQueue[Any]):
        """What a thread that reads answers with."""

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if timeout is None:
                return super().get(block)
            while self not in at_pipes:
                with suppress(Empty):
                    return super().get(timeout=TURN_S)
            passed.append(timeout)
            raise Empty

    def noted(read: Callable[..., Any]) -> Callable[..., Any]:
        def reads(path: Any, *arguments: Any, **options: Any) -> Any:
            answers = [*answers_of_this_thread(Answers)] if is_pipe(path) else []
            at_pipes.extend(answers)
            try:
                return read(path, *arguments, **options)
            finally:
                for each in answers:
                    at_pipes.remove(each)

        return reads

    for module in (bounded, reader):
        monkeypatch.setattr(module, "SimpleQueue", Answers)
    monkeypatch.setattr(os, "open", noted(os.open))
    monkeypatch.setattr(Path, "read_text", noted(Path.read_text))
    return passed


def is_pipe(path: Any) -> bool:
    with suppress(OSError):
        return S_ISFIFO(os.stat(path).st_mode)
    return False


def answers_of_this_thread(kind: type[SimpleQueue[Any]]) -> Iterator[SimpleQueue[Any]]:
    """Yield the queues that this thread's functions have, as variables or in their objects.

    Only a thread itself may look at its variables: those of one that runs meanwhile crash the interpreter.
    """
    frame: FrameType | None = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            yield from (each for each in (value, *vars_of(value)) if isinstance(each, kind))
        frame = frame.f_back


def vars_of(each: object) -> list[object]:
    return list(getattr(each, "__dict__", {}).values())
