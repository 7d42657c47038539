"""Run frames of noise through a split network: measure throughput, and the latency of a single job."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean

from edged.arithmetic import quartiles
from edged.clock import nanoseconds, now_ns
from edged.errors import DeviceError
from edged.hub.frames.queues import Pixels
from edged.messages import Features, Job, Scores
from edged.split.workers import ANSWER_S, Team, name_of
from edged.system.machine_state import ANY

ALLOWED_S = 60.0
LATENCIES = 20  # jobs in flight at most
WARM_UP = 2  # jobs in flight for each worker


@dataclass(frozen=True, slots=True)
class Tried:
    """Seconds between two answers with as many jobs in flight as possible, and the latency of a single job.

    `middle_s`: lower and upper quartile of `jobs` latencies. `state`: of the machine meanwhile.
    """

    period_s: float
    latency_s: float
    middle_s: tuple[float, float]
    jobs: int
    state: str = ANY


@dataclass(frozen=True, slots=True)
class WaitingFrames:
    """A job that waits for a stage, and its input."""

    job: int
    payloads: Sequence[Pixels]


class Pump:
    """Plays the hub's router for one camera that always has a frame."""

    def __init__(self, team: Team, stages: Sequence[Sequence[str]], images: Sequence[bytes]) -> None:
        """`stages`: the workers of each, in order; `images`: of a job."""
        self._team = team
        self._stages = stages
        self._images = images
        self._stage_of = {name: index for index, names in enumerate(stages) for name in names}
        self._credit = {name: team.hellos[name].credit for name in self._stage_of}
        self._waiting: list[deque[WaitingFrames]] = [deque() for _ in stages]
        self._in_hand: Counter[str] = Counter()
        self._given: Counter[str] = Counter()
        self._begun: dict[int, float] = {}
        self._numbers = count()

    def run(self, for_s: float) -> Tried:
        """Run for about this time, and return the measured seconds."""
        room = sum(self._credit.values())
        for _ in range(WARM_UP * room):
            self._next_answer(room)
        start, answers = time.perf_counter(), 0
        while time.perf_counter() - start < for_s or not answers:
            self._next_answer(room)
            answers += 1
        period_s = (time.perf_counter() - start) / answers
        while self._begun:
            self._next_answer(0)
        latencies_s: list[float] = []
        while not latencies_s or (len(latencies_s) < LATENCIES and sum(latencies_s) < for_s):
            latencies_s.append(self._next_answer(1))
        low, _, high = quartiles(latencies_s)
        return Tried(period_s, fmean(latencies_s), (low, high), len(latencies_s))

    def _next_answer(self, room: int) -> float:
        """Keep `room` jobs in flight until one is answered; return the seconds that it took."""
        while True:
            self._begin(room)
            self._hand_out()
            received = self._team.receive(now_ns() + nanoseconds(ANSWER_S))
            if received is None:
                raise DeviceError(f"no answer within {ANSWER_S:g} s")
            name = name_of(received)
            match received.message:
                case Features(job=job):
                    self._in_hand[name] -= 1
                    self._waiting[self._stage_of[name] + 1].append(WaitingFrames(job, received.payloads))
                case Scores(job=job):
                    self._in_hand[name] -= 1
                    return time.perf_counter() - self._begun.pop(job)

    def _begin(self, room: int) -> None:
        while len(self._begun) < room and not self._waiting[0]:
            job = next(self._numbers)
            self._begun[job] = time.perf_counter()
            self._waiting[0].append(WaitingFrames(job, self._images))
            self._hand_out()

    def _hand_out(self) -> None:
        """Assign jobs, later stages first, but none to a stage whose successor has too many waiting."""
        for index in reversed(range(len(self._stages))):
            while self._waiting[index] and (name := self._free(index)) and not self._is_full(index + 1):
                waiting = self._waiting[index].popleft()
                self._in_hand[name] += 1
                self._given[name] += 1
                job = Job(job=waiting.job, frames=len(self._images), top=1, timeout_s=ALLOWED_S)
                self._team.send(name, job, waiting.payloads)

    def _free(self, index: int) -> str | None:
        """Return the worker of a stage with most credit left; of several, the one with fewest jobs so far."""
        left = {name: self._credit[name] - self._in_hand[name] for name in self._stages[index]}
        best = max(left, key=lambda name: (left[name], -self._given[name]))
        return best if left[best] > 0 else None

    def _is_full(self, index: int) -> bool:
        if index == len(self._stages):
            return False
        return len(self._waiting[index]) >= sum(self._credit[name] for name in self._stages[index])
