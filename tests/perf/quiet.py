"""Measurements on a machine that others use too: only those count in which they left it alone."""

import os
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import psutil

TRIES = 3
LOOK_S = 1.0
CLOCK_OF_ALL_THREADS = 2  # CPUCLOCK_SCHED of the kernel's clock ids: what all threads of a process have run

T = TypeVar("T")


def undisturbed(measure: Callable[[], T], most: float) -> T | None:
    """What `measure` finds while others keep `most` processors busy at most; None where each try was disturbed."""
    for _ in range(TRIES):
        before = Business()
        measured = measure()
        others = before.others()
        print(f"({'disturbed: ' * (others > most)}others kept {others:.2f} processors busy)", flush=True)
        if others <= most:
            return measured
    return None


def wait_for_quiet(most: float) -> None:
    """Until so few processors are busy. To be called before anything of ours runs."""
    others = most + 1
    while others > most:
        busy_s = busy()
        time.sleep(LOOK_S)
        others = (busy() - busy_s) / LOOK_S


class Business:
    """What the processors have worked up to now, for all and for this process with those that it has started."""

    def __init__(self) -> None:
        self._start, self._busy_s, self._ours = time.monotonic(), busy(), _processor_times(our_processes())

    def others(self) -> float:
        """Return how many processors others have kept busy since. A process of ours that has ended is theirs."""
        busy_s = busy() - self._busy_s
        ours_s = sum(
            spent_s - self._ours.get(pid, 0.0) for pid, spent_s in _processor_times(our_processes()).items()
        )
        return max(0.0, (busy_s - ours_s) / (time.monotonic() - self._start))


def busy() -> float:
    """Return seconds that this machine's processors have worked, since a moment that stays the same.

    It is the time in which they were not idle: that is counted to 10 ms. Time in user and system mode is only
    sampled at ticks. What the hypervisor took counts as work.
    """
    idle = psutil.cpu_times()
    return (os.cpu_count() or 1) * time.monotonic() - float(idle.idle + idle.iowait)


def ours() -> float:
    """Return seconds that this process and all that it has started, and that still run, have worked."""
    return sum(_processor_times(our_processes()).values())


def our_processes() -> list[int]:
    """Return the process IDs of this process and of all that it has started."""
    me = psutil.Process()
    return [me.pid, *(each.pid for each in me.children(recursive=True))]


def processor_time_s(pid: int) -> float:
    """Return what all threads of a process have run, to the nanosecond. Raises OSError where it has ended."""
    return time.clock_gettime(~pid << 3 | CLOCK_OF_ALL_THREADS)  # MAKE_PROCESS_CPUCLOCK of the kernel


def _processor_times(pids: Iterable[int]) -> dict[int, float]:
    times = {}
    for pid in pids:
        try:
            times[pid] = processor_time_s(pid)
        except OSError:
            continue  # it has ended meanwhile
    return times
