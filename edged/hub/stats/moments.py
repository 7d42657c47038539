"""Give each scrape the metrics of one moment: the hub's loop copies them between two turns.

A scrape that read them while the loop runs could find a prediction in one metric but not in the next.
"""

import os
import threading
from collections.abc import Callable, Iterator

from edged.clock import NANOSECONDS, now_ns
from edged.hub.frames.router import Router
from edged.hub.stats.counters import Stats

# largest age of a copy: the cost for the loop does not depend on the number of scrapes
FRESH_NS = NANOSECONDS // 50
WAIT_S = 0.5  # for the loop, which may be delayed; then the last copy is used

Writing = Callable[[], Iterator[str]]


class Moments:
    """Copies of the metrics: requested by the threads of scrapes, made by the hub's loop."""

    def __init__(self, take: Callable[[], Writing]) -> None:
        """`take`: returns the metrics of now, to be formatted in any thread."""
        self._take = take
        self._condition = threading.Condition()
        self._newest = take()
        self._newest_ns = now_ns()
        self._is_served = False  # a loop is running
        self._is_wanted = False
        self._descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        """Return a descriptor that is readable when a scrape waits."""
        return self._descriptor

    @property
    def is_wanted(self) -> bool:
        """Return whether a scrape waits."""
        return self._is_wanted

    def serve(self) -> None:
        """Copy the metrics for the scrapes that wait.

        From the first call on, the loop does so whenever `is_wanted`.
        """
        with self._condition:
            if self._is_wanted:
                os.eventfd_read(self._descriptor)
            self._is_served, self._is_wanted = True, False
            self._newest, self._newest_ns = self._take(), now_ns()
            self._condition.notify_all()

    def stop_serving(self) -> None:
        """Record that no loop runs any more: scrapes then copy the metrics themselves."""
        self.serve()
        self._is_served = False

    def close(self) -> None:
        """Close the descriptors, after the last scrape."""
        os.close(self._descriptor)

    def text(self) -> Iterator[str]:
        """Return all metrics in Prometheus' text format, in pieces. For the thread of a scrape."""
        return self._moment()()

    def _moment(self) -> Writing:
        with self._condition:
            if not self._is_served:
                return self._take()
            asked_ns = now_ns()
            if asked_ns - self._newest_ns > FRESH_NS:
                if not self._is_wanted:
                    self._is_wanted = True
                    os.eventfd_write(self._descriptor, 1)
                self._condition.wait_for(lambda: self._newest_ns >= asked_ns, WAIT_S)
            return self._newest


class LoopMetrics:
    """Shows all that has been counted until now, and nothing that comes after."""

    def __init__(self, router: Router, stats: Stats, moments: Moments) -> None:
        self._router = router
        self._stats = stats
        self._moments = moments

    def fileno(self) -> int:
        """Return a descriptor that is readable while a scrape waits."""
        return self._moments.fileno()

    def update(self) -> None:
        """Bring the metrics up to date."""
        self._stats.update_metrics(self._router.ledgers)

    def serve(self) -> None:
        """Give this moment to the scrapes that wait."""
        self.update()
        self._moments.serve()

    def stop_serving(self) -> None:
        """Give the last moment; later scrapes take theirs without a loop."""
        self.update()
        self._moments.stop_serving()
