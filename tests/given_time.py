"""Seconds that the machine gave us: promises in seconds are compared with these.

Where other programs take much of the cores, a clock measures them and not edged. All that the test process has
started is ours, also once it has ended, if its parent waited for it.
"""

import time
from typing import NamedTuple

import psutil

from edged.system.processor_use import busy

STARVED = 0.25  # of the cores taken by other programs: from then on their share does not count


class Account(NamedTuple):
    """Processor seconds of a process, with those of its children that it waited for, and who its parent is."""

    spent_s: float
    parent: int


class GivenTime:
    """Counts seconds from its beginning, less the share of other programs while they take much of the cores."""

    def __init__(self, passed_s: float = 0.0) -> None:
        """Begin to count from `passed_s`."""
        self._passed_s = passed_s
        self._begin_s, self._busy_s, self._accounts = time.monotonic(), busy(), accounts()

    def seconds(self) -> float:
        """Return the seconds until now."""
        took_s, busy_s = time.monotonic() - self._begin_s, busy() - self._busy_s
        return self._passed_s + unstarved(took_s, busy_s - spent_between(self._accounts, accounts()))


def accounts() -> dict[int, Account]:
    """Return the accounts of this process and all its descendants, by process ID."""
    us = psutil.Process()
    found: dict[int, Account] = {}
    for each in (us, *us.children(recursive=True)):
        try:
            times = each.cpu_times()
            spent_s = times.user + times.system + times.children_user + times.children_system
            found[each.pid] = Account(spent_s, each.ppid())
        except psutil.NoSuchProcess:  # it has ended meanwhile
            continue
    return found


def spent_between(before: dict[int, Account], after: dict[int, Account]) -> float:
    """Return the processor seconds of ours between two looks.

    A process that has ended is in the account of its parent, if that is still there; else what it spent is lost.
    """
    known_s = sum(account.spent_s for pid, account in before.items() if pid in after or account.parent in after)
    return sum(account.spent_s for account in after.values()) - known_s


def unstarved(took_s: float, others_s: float) -> float:
    """Return `took_s` less the share of others, who spent `others_s` processor seconds, if that was large."""
    if not took_s:
        return 0.0
    taken = others_s / (took_s * (psutil.cpu_count() or 1))
    return took_s if taken < STARVED else took_s * (1 - min(1.0, taken))
