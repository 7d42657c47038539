"""Threads that serve beside the hub's loop. One that fails is reported, and restarted after a while."""

import logging
import os
import threading
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, get_args

from prometheus_client import Counter, Gauge

from edged.clock import NANOSECONDS, now_ns
from edged.hub.events import HubEvent
from edged.system.backoff import Backoff

ServiceName = Literal["guard", "host", "journal", "journal_sync", "metrics", "notify", "replay", "stream"]

LONGEST_WAIT_S = 10.0  # seconds before the next start of a service that fails repeatedly
WORKS_NS = NANOSECONDS  # seconds without a failure, after which a service has recovered

log = logging.getLogger("edged.hub")


class ServiceThreads:
    """Runs each service in a separate thread, until its function returns.

    An exception ends no service: it becomes the event `service_failed`, and the function is called again. Until it
    has run for a second, the service counts as failed (`failed`).
    """

    def __init__(self, up: Gauge, failures: Counter) -> None:
        """`up` and `failures` have the label `service`."""
        self._up = up
        self._failures = failures
        self._notices: deque[HubEvent] = deque(maxlen=100)
        self._restarted_ns: dict[ServiceName, int | None] = {}  # of failed services; None: not restarted yet
        self._lock = threading.Lock()
        self._closing = threading.Event()
        for name in get_args(ServiceName):
            failures.labels(name)

    def start(
        self, name: ServiceName, serve: Callable[[], None], longest_wait_s: float = LONGEST_WAIT_S
    ) -> threading.Thread:
        """Call `serve` in a thread of that name, and again after an exception. It returns when it is to end."""
        self._up.labels(name).set(1)
        backoff = Backoff(longest_s=longest_wait_s)
        thread = threading.Thread(target=self._run, args=(name, serve, backoff), name=name, daemon=True)
        thread.start()
        return thread

    @property
    def failed(self) -> list[ServiceName]:
        """Return the services that have failed and not recovered yet."""
        with self._lock:
            return sorted(self._restarted_ns)

    def notices(self, now: int) -> list[HubEvent]:
        """Return the events since the last call."""
        with self._lock:
            for name, restarted_ns in list(self._restarted_ns.items()):
                if restarted_ns is not None and now - restarted_ns >= WORKS_NS:
                    del self._restarted_ns[name]
                    self._up.labels(name).set(1)
                    self._notices.append(HubEvent("service_recovered", f"service {name} works again"))
        return [self._notices.popleft() for _ in range(len(self._notices))]

    def close(self) -> None:
        """Restart no service after its next failure: the hub is about to end."""
        self._closing.set()

    def _run(self, name: ServiceName, serve: Callable[[], None], backoff: Backoff) -> None:
        preempt_no_thread()
        while True:
            begun_ns = now_ns()
            try:
                serve()
            except BaseException as error:
                if self._closing.is_set():
                    log.debug("service %s ends: %r", name, error)
                    return
                if now_ns() - begun_ns > LONGEST_WAIT_S * NANOSECONDS:
                    backoff.succeeded()
                wait_s = backoff.failed()
                self._has_failed(name, error, wait_s)
                self._closing.wait(wait_s)
                with self._lock:
                    self._restarted_ns[name] = now_ns()
            else:
                return

    def _has_failed(self, name: ServiceName, error: BaseException, wait_s: float) -> None:
        self._failures.labels(name).inc()
        self._up.labels(name).set(0)
        message = f"service {name} failed: {_described(error)}; it is started again in {wait_s:.1f} s"
        with self._lock:
            self._restarted_ns[name] = None
            self._notices.append(HubEvent("service_failed", message, reason=name))


def preempt_no_thread() -> None:
    """Have the calling thread wait until the hub's loop sleeps, or a processor is free, when something wakes it.

    A thread that the loop wakes in the middle of a turn would otherwise take its processor and its caches. The
    scheduler lets no thread of this policy preempt another when it wakes (sched(7), SCHED_BATCH).
    """
    with suppress(OSError):  # a sandbox that forbids it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _described(error: BaseException) -> str:
    """Format its type, its text and the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}" if str(error) else f"{type(error).__name__}{place}"
