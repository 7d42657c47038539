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
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Protocol, Self, TypeVar, cast

from edged.errors import EdgedError
from edged.system.machine_probe import serve
from edged.system.plain_text import counted
from edged.system.processor_use import ProcessorUse

SLOW_WAKE = 10.0  # times the round trip on one processor; usual are 4 to 7
APART_S = 250e-9  # of a cache line's way to another processor and back: usual are 80 to 170 ns
OTHERS = 0.08  # processors that other processes may keep busy
SPAN_S = 0.1  # shortest time over which the business of others can be judged: the kernel counts it in ticks
TRIES = 3  # turns until one is neither disturbed nor changed
DISTURBED, CHANGED = "disturbed", "changed"
LEFT_OUT = (DISTURBED, CHANGED)  # no figure is of such turns
ANY = "any"  # of a host that is not looked at
NUMBERS = {1: "one", 2: "two"}

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
        command = [sys.executable, "-c", f"from {serve.__module__} import serve; serve()"]
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
