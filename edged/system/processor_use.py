"""How much processor time this machine, and this process with all that it has started, have used."""

import os
import time

import psutil

TICK_S = 0.01
CLOCK_OF_ALL_THREADS = 2  # CPUCLOCK_SCHED of the kernel's clock ids: what all threads of a process have run


class ProcessorUse:
    """Processor time since creation, of all processes and of ours."""

    def __init__(self) -> None:
        self._start, self._busy_s, self._ours_s = time.monotonic(), busy(), ours()

    @property
    def age_s(self) -> float:
        """Return seconds since it was made."""
        return time.monotonic() - self._start

    def others(self) -> float:
        """Return how many processors other processes have kept busy since; a tick of the kernel is no business."""
        busy_s, ours_s = busy() - self._busy_s, ours() - self._ours_s
        return max(0.0, (busy_s - ours_s - TICK_S) / self.age_s)


def busy() -> float:
    """Return seconds that this machine's processors have worked, since a moment that stays the same.

    It is the time in which they were not idle: that is counted to 10 ms. Time in user and system mode is only
    sampled at ticks. What the hypervisor took counts as work.
    """
    idle = psutil.cpu_times()
    return (os.cpu_count() or 1) * time.monotonic() - float(idle.idle + idle.iowait)


def ours() -> float:
    """Return seconds that this process and all that it has started have worked.

    One that has ended counts if its parent has waited for it; else its work is that of other processes.
    """
    return sum(_worked_s(pid) for pid in our_processes())


def our_processes() -> list[int]:
    """Return the process IDs of this process and of all that it has started."""
    me = psutil.Process()
    return [me.pid, *(each.pid for each in me.children(recursive=True))]


def processor_time_s(pid: int) -> float:
    """Return what all threads of a process have run, to the nanosecond. Raises OSError where it has ended."""
    return time.clock_gettime(~pid << 3 | CLOCK_OF_ALL_THREADS)  # MAKE_PROCESS_CPUCLOCK of the kernel


def _worked_s(pid: int) -> float:
    """With that of its children that have ended."""
    try:
        times = psutil.Process(pid).cpu_times()
        return processor_time_s(pid) + float(times.children_user + times.children_system)
    except (OSError, psutil.NoSuchProcess):
        return 0.0  # it has ended meanwhile
