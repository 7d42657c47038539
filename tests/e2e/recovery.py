"""How long a daemon takes to go on, and what it counts."""

from collections.abc import Callable

import psutil

from tests.e2e.daemon import START_S, Daemon
from tests.eventually import eventually
from tests.given_time import GivenTime

WITHIN_S = 3.0


def seconds_to_recover(daemon: Daemon, worker: psutil.Process, fault: Callable[[], None]) -> float:
    """Return given seconds from the fault to the first prediction after the end of the worker that met it."""
    given = GivenTime()
    fault()
    eventually(lambda: not worker.is_running(), START_S)
    assert daemon.first(1)
    took_s = given.seconds()
    print(f"{took_s:.2f} s from the fault to the next prediction")
    return took_s


def restarts(daemon: Daemon, reason: str) -> float:
    """Return how often local-0 was lost for this reason, by the metrics."""
    name = f'edged_worker_restarts_total{{reason="{reason}",worker="local-0"}} '
    return next((float(line.removeprefix(name)) for line in daemon.metrics().splitlines() if name in line), 0.0)
