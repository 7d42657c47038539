"""Detect before and after each measurement whether processors are shared or disturbed.

The processors of a virtual machine may sit on cores of their own or share one, and that changes within seconds:
all times with two threads double. So a probe multiplies small matrices before and after each turn, on one
processor and then on all of them, for 2.5 ms each. How many times as fast all are names the state: `two-core`,
`one-core`. Then two threads wake each other for some milliseconds, on two processors and on one: where the first
takes far longer, as when the hypervisor is slow to continue a processor that slept, the state is `two-core
slow-wake`. At last a cache line goes from one of two processors to the other and back: where it takes 430 ns in
place of 90, they have no third-level cache in common, and the state is `two-core apart`. A turn in which other
processes took part of the processors is `disturbed`, one during which the state changed is `changed`; both are
counted and left out.
"""

import contextlib
import math
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import IO, Any, Protocol, Self, TypeVar, cast

import numpy as np
import psutil

from edged.errors import EdgedError
from edged.system.handoff import handoff_s, work_on
from edged.system.plain_text import counted

LOOK_S = 0.0025  # of multiplications, on one processor and on all: not more than a short turn takes
FEWEST = 5  # products or pings of a look on a slow processor
PINGS = 50  # round trips between two threads: some 30 µs each, 5 µs on one processor
PINGS_S = 0.005  # longest time for them
SLOW_WAKE = 10.0  # times the round trip on one processor; usual are 4 to 7
APART_S = (
    250e-9  # a cache line's way to another processor and back, without a common cache; usual are 80 to 170 ns
)
PRODUCT_S = 0.0002  # longest product: smaller matrices on slower processors
SIDES = (128, 64, 32)  # three matrices of 64 kB stay in the second cache, even where two threads share one
OTHERS = 0.08  # processors that other processes may keep busy
SPAN_S = 0.1  # shortest time over which the business of others can be judged: the kernel counts it in ticks
TICK_S = 0.01
TRIES = 3  # turns until one is neither disturbed nor changed
DISTURBED, CHANGED = "disturbed", "changed"
LEFT_OUT = (DISTURBED, CHANGED)  # no figure is of such turns
ANY = "any"  # of a host that is not looked at
NUMBERS = {1: "one", 2: "two"}
CLOCK_OF_ALL_THREADS = 2  # CPUCLOCK_SCHED of the kernel's clock ids: what all threads of a process have run

T = TypeVar("T")


@dataclass(frozen=True)
class Speed:
    """Matrix products in GFLOP/s: of the fastest processor alone, and of all `processors` together.

    `alone`: how many times as fast as that one all would be, each on a core of its own; 2.7 for two fast and four
    slow processors, of which each makes a sixth of a fast one's products.
    `wake`: round trip between threads that wake each other on two processors, by that on one; 1 for one processor.
    `handoff_s`: a cache line's way from one of two processors to the other and back; 0: not known, or not two.
    """

    one: float
    every: float
    processors: int
    alone: float
    wake: float = 1.0
    handoff_s: float = 0.0

    @property
    def state(self) -> str:
        """Name the number of cores that explains it: one for each processor, for two of them, for four …

        A number between them has other reasons: all processors together have a lower clock than one. `slow-wake`:
        a processor that slept is slow to continue, which delays each of many short launches. `apart`: what one
        processor writes reaches the other by memory, which delays the layers that both compute.
        """
        cores = [self.processors]
        while cores[-1] > 1:
            cores.append(cores[-1] // 2)
        ratio = max(self.every / self.one, 1e-9)
        explains = min(cores, key=lambda count: abs(math.log(ratio * self.processors / (self.alone * count))))
        slow = " slow-wake" if self.wake > SLOW_WAKE else ""
        apart = " apart" if self.handoff_s > APART_S else ""
        return f"{NUMBERS.get(explains, str(explains))}-core{apart}{slow}"


@dataclass(frozen=True)
class Turn:
    """The state of the machine during a measurement; `others`: processors that other processes kept busy."""

    state: str
    others: float


class Machine(Protocol):
    """What a measurement needs of the machine."""

    def during(self, measure: Callable[[], T]) -> tuple[T, Turn]:
        """Return what `measure` found, and the state of the machine meanwhile."""


class Unwatched:
    """A machine that is not looked at, since its processors compute nothing of what is measured: a GPU does.

    All turns have one state, and none is left out.
    """

    def during(self, measure: Callable[[], T]) -> tuple[T, Turn]:
        """Return what `measure` found."""
        return measure(), Turn(ANY, 0.0)


UNWATCHED = Unwatched()


class MachineState:
    """The probe: a process of its own, since NumPy must have one thread there. It sleeps between two looks."""

    def __init__(self, most_others: float = OTHERS) -> None:
        environment = os.environ | {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
        pipe = subprocess.PIPE
        self._most_others = most_others
        self._recent = deque([ProcessorUse()])
        self._process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, text=True, start_new_session=True
        )
        self._input, self._output = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        self.speed()  # the first is slow

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def speed(self) -> Speed:
        """Multiply matrices and wake threads for milliseconds. Raises EdgedError where the probe has ended."""
        with contextlib.suppress(BrokenPipeError):
            self._input.write("\n")
            self._input.flush()
        answer = self._output.readline()
        if not answer:
            raise EdgedError("the probe of the machine's state has ended; its error is printed above")
        one, every, processors, *others = answer.split()
        return Speed(float(one), float(every), int(processors), *map(float, others))

    def during(
        self, measure: Callable[[], T], standing_still: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> tuple[T, Turn]:
        """Return what `measure` found, and the state of the machine meanwhile.

        `standing_still`: a block in which nothing of what is measured works, while the machine is looked at.
        """
        with standing_still():
            before = self.speed()
        self._recent.append(ProcessorUse())
        measured = measure()
        others = self._others()
        with standing_still():
            after = self.speed()
        return measured, Turn(label(before, after, others, self._most_others), round(others, 3))

    def _others(self) -> float:
        """Return how many processors others kept busy, in this turn and, if it was short, in those before."""
        while len(self._recent) > 1 and self._recent[1].age_s >= SPAN_S:
            self._recent.popleft()
        return self._recent[0].others()


def watch(*, computes: bool, most_others: float = OTHERS) -> AbstractContextManager[Machine]:
    """Return the probe of a machine whose processors compute; else one that looks at nothing.

    `most_others`: processors that others may keep busy; infinite beside a daemon that serves.
    """
    return MachineState(most_others) if computes else nullcontext(UNWATCHED)


def label(before: Speed, after: Speed, others: float, most_others: float = OTHERS) -> str:
    """Name the state of a turn between two looks."""
    if others > most_others:
        return DISTURBED
    return before.state if before.state == after.state else CHANGED


def in_one_state(machine: Machine, measure: Callable[[], T], wanted: str | None = None) -> tuple[T, list[Turn]]:
    """Measure until a turn counts, but not more than `TRIES` times; return the last measurement, and all turns.

    `wanted`: the state that it should have; None: any that is neither disturbed nor changed.
    """
    turns: list[Turn] = []
    while True:
        found, turn = machine.during(measure)
        turns.append(turn)
        counts = turn.state == wanted if wanted else turn.state not in LEFT_OUT
        if counts or len(turns) == TRIES:
            return found, turns


@dataclass(frozen=True)
class Account:
    """Which runs count: those of `state`; None: none was undisturbed, so all do. `runs`: how many, by state."""

    state: str | None
    runs: Mapping[str, int]

    @classmethod
    def of(cls, *measured: Sequence[str]) -> "Account":
        """Choose the state of most runs of several measurements that are to be compared, each by run."""
        counts = [Counter(states) for states in measured]
        common = set.intersection(*(set(count) for count in counts)) - set(LEFT_OUT)
        state = max(sorted(common), key=lambda each: min(count[each] for count in counts), default=None)
        return cls(state, dict(counts[0].most_common()))

    def counts(self, state: str) -> bool:
        return self.state is None or state == self.state

    def as_object(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"state": self.state, "runs": dict(self.runs)}

    def __str__(self) -> str:
        if self.state == ANY:
            return "state of the machine: not looked at, since its processors compute little of this"
        kept, every = self.runs.get(self.state or "", 0), sum(self.runs.values())
        by_state = ", ".join(f"{count} {state}" for state, count in self.runs.items())
        if self.state is None:
            return (
                f"WARNING: other programs or a change of state disturbed each turn ({by_state}):\n"
                "the figures are of all of them, and may say little"
            )
        others = f"; left out: {by_state}" if (by_state := self._others()) else ""
        return f"state of the machine: {self.state}, in {kept} of {counted(every, 'run')}{others}"

    def _others(self) -> str:
        return ", ".join(f"{count} {state}" for state, count in self.runs.items() if state != self.state)


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


def serve() -> None:
    """Print a look for each line that is read, until the input ends: see `Speed`."""
    processors = sorted(os.sched_getaffinity(0))
    side = next((side for side in SIDES if _product_s(side) <= PRODUCT_S), SIDES[-1])
    each = [_multiply_on([processor], side) for processor in processors]
    fastest = processors[each.index(max(each))]
    alone = _times_the_fastest(each)
    for _ in sys.stdin:
        one = _multiply_on([fastest], side)
        every = _multiply_on(processors, side) if len(processors) > 1 else one
        wake = _wake_ratio(fastest, next((each for each in processors if each != fastest), fastest))
        apart_s = handoff_s(*processors) if len(processors) == 2 else 0.0
        print(one, every, len(processors), alone, wake, apart_s, flush=True)


def _times_the_fastest(each: Sequence[float]) -> float:
    """Return how many times as fast as the fastest processor all are; equal ones differ by chance."""
    return sum(1.0 if speed > max(each) / math.sqrt(2) else speed / max(each) for speed in each)


def _wake_ratio(first: int, second: int) -> float:
    """Return the round trip between threads on two processors, divided by that between threads on the first."""
    if first == second:
        return 1.0
    return _round_trip_s(first, second) / _round_trip_s(first, first)


def _round_trip_s(first: int, second: int) -> float:
    """Return the median seconds in which a thread on the first processor wakes one on the second, and it back."""
    (pinged, ping), (ponged, pong) = os.pipe(), os.pipe()
    times: list[float] = []

    def answer() -> None:
        work_on(second)
        while os.read(pinged, 1):
            os.write(pong, b".")

    def ask() -> None:
        work_on(first)
        until = time.perf_counter() + PINGS_S
        while len(times) < FEWEST or (len(times) < PINGS and time.perf_counter() < until):
            start = time.perf_counter()
            os.write(ping, b".")
            os.read(ponged, 1)
            times.append(time.perf_counter() - start)
        os.close(ping)  # the other one ends

    _run_together(answer, ask)
    for end in (pinged, ponged, pong):
        os.close(end)
    return statistics.median(times)


def _run_together(*parts: Callable[[], None]) -> None:
    """Run each in a thread, until all have ended."""
    threads = [threading.Thread(target=part) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _multiply_on(processors: Sequence[int], side: int) -> float:
    """Return the GFLOP/s of a thread on each of them, together."""
    begin, speeds = threading.Barrier(len(processors)), [0.0] * len(processors)

    def multiply(index: int) -> None:
        work_on(processors[index])
        speeds[index] = _speed(begin, side)

    _run_together(*(partial(multiply, index) for index in range(len(processors))))
    return sum(speeds)


def _speed(begin: threading.Barrier, side: int) -> float:
    """Return GFLOP/s by the median product: one during which the thread was preempted does not count."""
    multiply = _product(side)
    begin.wait()
    times: list[float] = []
    until = time.perf_counter() + LOOK_S
    while len(times) < FEWEST or time.perf_counter() < until:
        start = time.perf_counter()
        multiply()
        times.append(time.perf_counter() - start)
    return 2 * side**3 / statistics.median(times) / 1e9


def _product(side: int) -> Callable[[], Any]:
    """Return a product of two matrices of float32, [side, side], that was computed once before."""
    left = np.full((side, side), 0.01, np.float32)
    right, out = left.copy(), left.copy()
    np.dot(left, right, out)
    return lambda: np.dot(left, right, out)


def _product_s(side: int) -> float:
    """Return the least seconds of some products."""
    multiply, times = _product(side), []
    for _ in range(FEWEST):
        start = time.perf_counter()
        multiply()
        times.append(time.perf_counter() - start)
    return min(times)
