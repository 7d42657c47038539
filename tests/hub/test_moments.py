"""Scrapes show what the loop has counted, at one moment."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from select import select

import pytest

from edged.clock import NANOSECONDS
from edged.hub.stats.moments import FRESH_NS, WAIT_S, Moments
from edged.metrics.declare import Declare
from tests.eventually import eventually


class Loop:
    """Counts two things, one after the other, as the hub's loop does."""

    def __init__(self) -> None:
        declare = Declare()
        self._counters = [declare.quick_counter(name, "Help.", ["camera"]).labels("door") for name in "ab"]
        self.taken = 0
        self._now = declare.now
        self.moments = Moments(self._take)
        self.is_over = False

    def _take(self) -> Callable[[], Iterator[str]]:
        self.taken += 1
        return self._now()

    def run(self) -> None:
        self.moments.serve()
        while not self.is_over:
            for counter in self._counters:
                counter.inc()
                time.sleep(0)  # somebody else may have a turn
            if self.moments.is_wanted:
                self.moments.serve()
        self.moments.stop_serving()


@contextmanager
def running() -> Iterator[Loop]:
    loop = Loop()
    with closing(loop.moments):
        thread = threading.Thread(target=loop.run)
        thread.start()
        eventually(lambda: loop.taken > 1)
        try:
            yield loop
        finally:
            loop.is_over = True
            thread.join()


def values(moments: Moments) -> list[float]:
    return [float(line.split()[1]) for line in "".join(moments.text()).splitlines() if not line.startswith("#")]


def test_all_metrics_of_a_scrape_are_of_one_moment() -> None:
    seen: list[list[float]] = []

    def scrape_in_a_crowd() -> bool:
        """Until the loop, which may get no processor for a while, has counted between two scrapes."""
        seen.extend(threads.map(lambda _: values(loop.moments), range(200)))
        return len({a for a, _ in seen}) > 1

    with running() as loop, ThreadPoolExecutor(4) as threads:
        eventually(scrape_in_a_crowd)
    assert all(a == b for a, b in seen)


def test_what_is_counted_while_a_scrape_is_written_is_not_in_it() -> None:
    declare = Declare()
    counter, seconds = (
        declare.quick_counter("a", "Help.", ["camera"]),
        declare.quick_histogram("b", "Help.", ["camera"]),
    )
    counter.labels("door").inc()
    seconds.labels("door").observe(1)
    text = declare.now()()
    counter.labels("door").inc()
    counter.labels("gate").inc()
    seconds.labels("door").observe(1)
    lines = "".join(text).splitlines()
    assert 'a{camera="door"} 1.0' in lines
    assert 'b_count{camera="door"} 1' in lines
    assert not any("gate" in line for line in lines)


def test_many_scrapes_cost_the_loop_a_moment_each_20_ms_at_most() -> None:
    with running() as loop, ThreadPoolExecutor(8) as threads:
        before, since_s = loop.taken, time.monotonic()
        list(threads.map(lambda _: values(loop.moments), range(500)))
        lasted_s = time.monotonic() - since_s
        assert loop.taken - before <= lasted_s * NANOSECONDS / FRESH_NS + 2


def test_a_loop_that_is_held_up_holds_up_no_scrape_for_long() -> None:
    loop = Loop()
    with closing(loop.moments):
        loop.moments.serve()
        since_s = time.monotonic()
        assert values(loop.moments) == [0, 0]
        eventually(lambda: values(loop.moments) and time.monotonic() - since_s > WAIT_S)
        assert loop.moments.is_wanted
        assert select([loop.moments], [], [], 0)[0]
        loop.moments.serve()
        assert not select([loop.moments], [], [], 0)[0]


@pytest.mark.parametrize("was_served", [False, True])
def test_before_and_after_the_loop_a_scrape_takes_its_moment_itself(was_served: bool) -> None:
    loop = Loop()
    with closing(loop.moments):
        if was_served:
            loop.moments.serve()
            loop.moments.stop_serving()
        before = loop.taken
        assert values(loop.moments) == [0, 0]
        assert loop.taken == before + 1
