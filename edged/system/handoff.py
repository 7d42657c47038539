"""Measure how long a processor waits for what another one has written.

The two processors of a virtual machine may sit under one third-level cache or under two, and that changes within
seconds: a cache line takes 90 ns there and back, or 430. Layers that are divided among the processors take up to
1.8 times as long in the second case.
"""

import mmap
import os
import signal
import time
from contextlib import suppress
from typing import NoReturn

ROUNDS = 200
SPINS = 100_000  # looks at a line until the other one counts as not running: some milliseconds
ASKED, ANSWERED = 0, 64  # bytes of two cache lines
LEAST = 10  # of a hundred: what was interrupted took longer


def handoff_s(first: int, second: int) -> float:
    """Return the seconds that a cache line takes from the first processor to the second and back; 0: unknown.

    What the same loop takes on one processor is subtracted: some 200 ns of Python. The process must have one
    thread.
    """
    before = os.sched_getaffinity(0)
    with mmap.mmap(-1, mmap.PAGESIZE) as memory, memoryview(memory) as line:
        child = os.fork()
        if child == 0:
            _answer(line, second)
        try:
            work_on(first)
            there_and_back_s, alone_s = _least_s(line, ANSWERED), _least_s(line, ASKED)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.sched_setaffinity(0, before)
    return max(0.0, there_and_back_s - alone_s) if there_and_back_s and alone_s else 0.0


def _answer(line: memoryview, processor: int) -> NoReturn:
    """Answer each value, in a process of its own, which ends with it, or if none comes."""
    try:
        work_on(processor)
        spins = range(SPINS)
        for number in range(ROUNDS):
            value = number % 255 + 1
            for _ in spins:
                if line[ASKED] == value:
                    break
            else:
                break
            line[ANSWERED] = value
    finally:
        os._exit(0)


def _least_s(line: memoryview, answer: int) -> float:
    """Return how long the fastest tenth of the answers took that came at this byte; 0 if one did not come."""
    times, spins = [], range(SPINS)
    for number in range(ROUNDS):
        value = number % 255 + 1
        start_ns = time.perf_counter_ns()
        line[ASKED] = value
        for _ in spins:
            if line[answer] == value:
                break
        else:
            return 0.0
        times.append(time.perf_counter_ns() - start_ns)
    return sorted(times)[len(times) * LEAST // 100] / 1e9


def work_on(processor: int) -> None:
    """Bind this thread to a processor, unless it was switched off meanwhile."""
    with suppress(OSError):
        os.sched_setaffinity(0, {processor})
