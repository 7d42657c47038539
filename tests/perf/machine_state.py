"""Whether the machine gives what it seems to have: `python -m tests.perf.machine_state` prints its states.

The processors of a virtual machine may sit on cores of their own or share one, and that changes within seconds:
all times with two threads double. So a probe multiplies small matrices before and after each measured turn, on one
processor and then on all of them, for 2 ms each. How many times as fast all are names the state: `two-core`,
`one-core`. A turn in which other processes took part of the processors is `disturbed`, one during which the state
changed is `changed`; both are counted and left out.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import numpy as np

from tests.perf.quiet import Business

SIDE = 128  # three matrices of 64 kB: they stay in the second cache, even where two threads share one
PRODUCTS = 40  # of one thread: 2 to 3 ms
OTHERS = 0.08  # processors that other processes may keep busy
DISTURBED, CHANGED = "disturbed", "changed"
LEFT_OUT = (DISTURBED, CHANGED)  # no figure is of such turns
NUMBERS = {1: "one", 2: "two"}

T = TypeVar("T")


@dataclass(frozen=True)
class Speed:
    """Matrix products in GFLOP/s: of one thread alone, and of a thread on every processor together."""

    one: float
    every: float

    @property
    def state(self) -> str:
        """Name the number of cores that would explain it."""
        cores = max(1, round(self.every / self.one))
        return f"{NUMBERS.get(cores, str(cores))}-core"


@dataclass(frozen=True)
class Turn:
    """The state of the machine during a measurement; `others`: processors that other processes kept busy."""

    state: str
    others: float


class MachineState:
    """The probe: a process of its own, since NumPy must have one thread there. It sleeps between two looks."""

    def __init__(self, most_others: float = OTHERS) -> None:
        environment = os.environ | {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        command = [sys.executable, "-c", "from tests.perf.machine_state import serve; serve()"]
        pipe = subprocess.PIPE
        self._most_others = most_others
        self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)
        self.speed()  # the first is slow

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def speed(self) -> Speed:
        """Multiply matrices for some milliseconds. Raises RuntimeError where the probe has ended."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the probe of the machine's state has ended; its error is printed above")
        one, every = map(float, answer.split())
        return Speed(one, every)

    def during(
        self, measure: Callable[[], T], standing_still: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> tuple[T, Turn]:
        """Return what `measure` found, and the state of the machine meanwhile.

        `standing_still`: a block in which nothing of what is measured works, while the machine is looked at.
        """
        with standing_still():
            before = self.speed()
        business = Business()
        measured = measure()
        others = business.others()
        with standing_still():
            after = self.speed()
        return measured, Turn(label(before, after, others, self._most_others), round(others, 3))


def label(before: Speed, after: Speed, others: float, most_others: float = OTHERS) -> str:
    """Name the state of a turn between two looks."""
    if others > most_others:
        return DISTURBED
    return before.state if before.state == after.state else CHANGED


def serve() -> None:
    """Print one and every speed for each line that is read, until the input ends."""
    processors = sorted(os.sched_getaffinity(0))
    for _ in sys.stdin:
        one = _multiply_on(processors[:1])
        print(one, _multiply_on(processors), flush=True)


def _multiply_on(processors: Sequence[int]) -> float:
    """Return the GFLOP/s of a thread on each of them, together."""
    begin, speeds = threading.Barrier(len(processors)), [0.0] * len(processors)

    def multiply(place: int) -> None:
        os.sched_setaffinity(0, {processors[place]})  # of this thread
        speeds[place] = _speed(begin)

    threads = [threading.Thread(target=multiply, args=(place,)) for place in range(len(processors))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(speeds)


def _speed(begin: threading.Barrier) -> float:
    """Return GFLOP/s by the median product: one during which the thread was preempted does not count."""
    left = np.full((SIDE, SIDE), 0.01, np.float32)
    right, out = left.copy(), left.copy()
    np.dot(left, right, out)
    begin.wait()
    times = []
    for _ in range(PRODUCTS):
        start = time.perf_counter()
        np.dot(left, right, out)
        times.append(time.perf_counter() - start)
    return 2 * SIDE**3 / statistics.median(times) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to look (default: 10)")
    options = parser.parse_args()
    states: Counter[str] = Counter()
    with MachineState() as machine:
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            speed = machine.speed()
            _, turn = machine.during(lambda: time.sleep(0.2))
            states[turn.state] += 1
            print(f"{turn.state:10} one {speed.one:.0f}, all {speed.every:.0f} GFLOP/s; others {turn.others:.2f}")
    print(", ".join(f"{state} {count}" for state, count in states.most_common()))


if __name__ == "__main__":
    main()
