"""Wait for the device: in a separate thread, so that the worker's loop does not, unless the job is a quick one."""

import socket
import threading
from collections import deque
from dataclasses import dataclass
from queue import SimpleQueue

from edged.clock import NANOSECONDS, now_ns, seconds_since
from edged.messages import Job
from edged.runtime.base import Pending, Result

Outcome = Result | Exception

QUICK_NS = NANOSECONDS // 1000  # what waking another thread, and being woken by it, may cost on a busy machine


@dataclass(frozen=True, slots=True)
class Completed:
    """A job with its result, or its error, and the time of its completion."""

    job: Job
    outcome: Outcome
    at_ns: int


class Completions:
    """Jobs in the order of submission, each returned when the device has completed it.

    A poller sees it readable while there are completions to `pop`.
    """

    def __init__(self, *, waits_for_quick_jobs: bool) -> None:
        """`waits_for_quick_jobs`: `add` waits for a job itself while the last one took less than `QUICK_NS`."""
        self._waits_for_quick_jobs = waits_for_quick_jobs
        self._is_quick = False
        self._submitted: SimpleQueue[tuple[Job, Pending] | None] = SimpleQueue()
        self._completed: deque[Completed] = deque()
        self._bell, self._ring = socket.socketpair()
        self.in_flight = 0
        self._since_ns = 0  # the earliest time at which the device began the oldest job
        # a daemon thread: a device that hangs must not keep the process alive
        self._thread = threading.Thread(target=self._wait_for_each, name="completion", daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        """Return the descriptor that a poller watches."""
        return self._bell.fileno()

    def add(self, job: Job, pending: Pending) -> None:
        """Wait for this job too. One that is computed already, or a quick one, needs no other thread."""
        is_alone = not self.in_flight
        if is_alone:
            self._since_ns = now_ns()
        self.in_flight += 1
        if is_alone and (self._is_quick or pending.is_computed):
            self._complete(job, pending)
        else:
            self._submitted.put((job, pending))

    def pop(self) -> Completed | None:
        """Return the next completion, or None if no job is done."""
        if not self._completed:
            return None
        self._bell.recv(1)
        self.in_flight -= 1
        self._since_ns = now_ns()
        return self._completed.popleft()

    @property
    def waiting_s(self) -> float:
        """Return for how long the device has had its present job; 0 without one."""
        return seconds_since(self._since_ns) if self.in_flight else 0.0

    def close(self, within_s: float = 0.5) -> None:
        """End the thread; one that waits for a device that hangs is left running."""
        self._submitted.put(None)
        self._thread.join(within_s)
        if not self._thread.is_alive():
            self._bell.close()
            self._ring.close()

    def _wait_for_each(self) -> None:
        while submitted := self._submitted.get():
            self._complete(*submitted)

    def _complete(self, job: Job, pending: Pending) -> None:
        """Wait for a job, in any thread."""
        outcome: Outcome
        try:
            outcome = pending.wait()
        except Exception as error:
            outcome = error
        completed = Completed(job, outcome, now_ns())
        self._is_quick = self._waits_for_quick_jobs and completed.at_ns - self._since_ns < QUICK_NS
        self._completed.append(completed)
        self._ring.send(b".")
