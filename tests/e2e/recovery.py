"""How long a daemon takes to go on, and what it counts."""

import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from tests.e2e.daemon import START_S, Daemon
from tests.eventually import eventually

WITHIN_S = 3.0
STARVED = 0.25  # of the cores, taken by other programs: then the machine is measured and not the daemon


def seconds_to_recover(daemon: Daemon, worker: psutil.Process, fault: Callable[[], None]) -> float:
    """From the fault to the first prediction after the end of the worker that met it.

    On a machine that is starved, less the share of the cores that other programs took meanwhile.
    """
    begin, others_s = time.monotonic(), spent_by_others_s(daemon)
    fault()
    eventually(lambda: not worker.is_running(), START_S)
    assert daemon.first(1)
    took_s = time.monotonic() - begin
    fair_s = unstarved(took_s, spent_by_others_s(daemon) - others_s)
    print(f"{took_s:.2f} s from the fault to the next prediction, {fair_s:.2f} s but for other programs")
    return fair_s


def spent_by_others_s(daemon: Daemon) -> float:
    """Seconds of all cores since the machine began that neither were idle nor went to the daemon."""
    hub = psutil.Process(daemon.process.pid).cpu_times()
    ours_s = hub.user + hub.system + hub.children_user + hub.children_system  # of children that have ended
    return busy_s() - ours_s - sum(spent_s(child) for child in daemon.children())


def busy_s() -> float:
    """Seconds of all cores since the machine began that were not idle."""
    machine = psutil.cpu_times()
    return sum(machine) - machine.idle - machine.iowait - machine.guest - machine.guest_nice


def unstarved(took_s: float, others_s: float) -> float:
    """What took so long, while others had so many seconds of all cores: less their share, where that was large."""
    taken = others_s / (took_s * (psutil.cpu_count() or 1))
    return took_s if taken < STARVED else took_s * (1 - min(1.0, taken))


def spent_s(child: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        times = child.cpu_times()
        return times.user + times.system
    return 0.0


def restarts(daemon: Daemon, reason: str) -> float:
    """How often local-0 was lost for this reason, as the metrics say."""
    name = f'edged_worker_restarts_total{{reason="{reason}",worker="local-0"}} '
    return next((float(line.removeprefix(name)) for line in daemon.metrics().splitlines() if name in line), 0.0)
