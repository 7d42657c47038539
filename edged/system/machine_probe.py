"""Look at the processors for milliseconds, in a process of its own: how fast is one alone, how fast are all."""

import math
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from edged.system.handoff import handoff_s, work_on

LOOK_S = 0.0025  # of multiplications, on one processor and on all: not more than a short turn takes
FEWEST = 5  # products or pings of a look on a slow processor
PINGS = 50  # round trips between two threads: some 30 µs each, 5 µs on one processor
PINGS_S = 0.005  # longest time for them
PRODUCT_S = 0.0002  # longest product: smaller matrices on slower processors
SIDES = (128, 64, 32)  # three matrices of 64 kB stay in the second cache, even where two threads share one


def serve() -> None:
    """Print a look for each line that is read, until the input ends: see `machine_state.Speed`."""
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
