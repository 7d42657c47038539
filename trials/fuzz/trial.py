"""Runs cases one by one, each within a bound of time, all within one of memory."""

import random
import resource
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

MOST_SECONDS = 2.0  # of processor time, for one case: the machine may be busy
MOST_BYTES = 512 * 2**20  # more than there is before the first case

Case = Callable[[random.Random], str]


class Hang(BaseException):
    """A case that takes too long. No `except Exception` can hide it."""


@dataclass
class Tally:
    """How many cases came to which end, and what they cost.

    findings: cases that ended otherwise than in an answer or one clear error, the first of each sort.
    """

    ends: Counter[str] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)  # seconds, number of the case
    megabytes: int = 0  # the most that there ever was

    def __str__(self) -> str:
        ends = ", ".join(f"{count} {end}" for end, count in self.ends.most_common())
        slow, number = self.slowest
        return (
            f"{self.ends.total()} cases in {self.seconds:.1f} s: {ends}; "
            f"slowest {slow * 1000:.0f} ms (case {number}); {self.megabytes} MiB at most"
        )


def run(kind: str, case: Case, numbers: range) -> Tally:
    """Case `number` of a kind is the same in every run."""
    tally = Tally()
    start = time.perf_counter()
    with _bounded_memory():
        for number in numbers:
            before = time.process_time()
            tally.ends[_end_of(kind, case, number, tally.findings)] += 1
            tally.slowest = max(tally.slowest, (time.process_time() - before, number))
    tally.seconds = time.perf_counter() - start
    tally.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return tally


def _end_of(kind: str, case: Case, number: int, findings: dict[str, str]) -> str:
    chance = random.Random(f"{kind} {number}")  # noqa: S311
    try:
        with _bounded_time(), warnings.catch_warnings():
            warnings.simplefilter("error")
            return case(chance)
    except (Exception, Hang) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        sort = f"{type(error).__name__} at {place.filename}:{place.lineno}"
        findings.setdefault(sort, f"case {number}:\n{''.join(traceback.format_exception(error))}")
        return "findings"


@contextmanager
def _bounded_time() -> Iterator[None]:
    def give_up(number: int, frame: FrameType | None) -> None:
        raise Hang(f"more than {MOST_SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """Beyond the bound an allocation fails: a MemoryError, which is a finding."""
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_BYTES, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
