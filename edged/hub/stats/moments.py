"""The metrics of one moment for each scrape: the hub's loop takes them between two of its turns.

A scrape that read them while the loop goes on would find a prediction in one metric and not yet in the next.
"""

import os
import threading
from collections.abc import Callable, Iterator

from edged.clock import NANOSECONDS, now_ns

FRESH_NS = NANOSECONDS // 50  # so old may a moment be: scrapes cost the loop no more, however many there are
WAIT_S = 0.5  # for the loop, which may be held up; then the moment before is shown

Writing = Callable[[], Iterator[str]]


class Moments:
    """Asked by the threads of scrapes, served by the hub's loop."""

    def __init__(self, take: Callable[[], Writing]) -> None:
        """`take`: the metrics now, still to be written, in any thread."""
        self._take = take
        self._condition = threading.Condition()
        self._newest = take()
        self._newest_ns = now_ns()
        self._is_served = False  # there is a loop
        self._is_wanted = False
        self._descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        """Readable when a scrape waits."""
        return self._descriptor

    @property
    def is_wanted(self) -> bool:
        """Whether a scrape waits."""
        return self._is_wanted

    def serve(self) -> None:
        """Take this moment, for those that wait. The first call says that a loop does so whenever `is_wanted`."""
        with self._condition:
            if self._is_wanted:
                os.eventfd_read(self._descriptor)
            self._is_served, self._is_wanted = True, False
            self._newest, self._newest_ns = self._take(), now_ns()
            self._condition.notify_all()

    def stop_serving(self) -> None:
        """There is no loop any more: from now on scrapes take their moments themselves."""
        self.serve()
        self._is_served = False

    def close(self) -> None:
        """After the last scrape."""
        os.close(self._descriptor)

    def text(self) -> Iterator[str]:
        """All metrics in Prometheus' text format, in pieces. For the thread of a scrape."""
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
