"""How old the predictions of a journal are, by a clock that cannot jump.

The rules:

1. The wall clock deletes nothing. It may be 60 days ahead at one start, or at 1970 until NTP has set it. 2. Age is
the time that the machine has run since, suspended or not (CLOCK_BOOTTIME). It continues across restarts of edged
while the kernel's boot id is the same; the time for which a machine was off is not counted, because only a wall
clock could measure it. 3. Marks in the file record the newest number at an age of the journal. Predictions up to a
mark are too old once the journal is older than the mark by the limit. 4. The limits of size and of number hold at
any age.
"""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

MARKS = 1000  # within the age limit: deletions are exact to a thousandth of it
SHORTEST_S = 1.0  # least seconds between two marks
MOST = 1 << 53  # larger seconds and numbers are damage
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Reading:
    """The machine's clock: seconds since boot, and the boot id (empty: unknown)."""

    boot: str
    seconds: float

    @classmethod
    def now(cls) -> Self:
        """Read the machine's clock."""
        try:
            boot = BOOT_ID.read_text().strip()
        except OSError:
            boot = ""
        return cls(boot, time.clock_gettime(time.CLOCK_BOOTTIME))


class Mark(NamedTuple):
    """At `age` seconds of the journal, `seq` was its newest number; with the machine's clock at that moment."""

    age: int
    seq: int
    boot: str
    seconds: int


class Ages:
    """The marks in a journal's file, and its age in seconds, which only grows."""

    def __init__(self, database: sqlite3.Connection, clock: Callable[[], Reading] = Reading.now) -> None:
        self._database = database
        self._clock = clock
        self._last = _last_mark(database)
        self._opened = clock()
        self._at_opening = _age_at(self._opened, self._last)

    def age(self) -> float:
        """Return the journal's age in seconds."""
        return self._at_opening + max(0.0, self._clock().seconds - self._opened.seconds)

    def mark(self, newest: int | None, limit_s: float) -> None:
        """Store a mark if one is due: `newest` is in the file now. Raises sqlite3.Error.

        Marks that are no longer needed are deleted: a later one is beyond the limit too.
        """
        age = round(self.age())
        due = self._last is None or age >= self._last.age + max(SHORTEST_S, limit_s / MARKS)
        if newest is None or not due:
            return
        now = self._clock()
        self._last = Mark(age, newest, now.boot, round(now.seconds))
        self._database.execute("INSERT OR REPLACE INTO ages VALUES (?, ?, ?, ?)", self._last)
        useless = "DELETE FROM ages WHERE age < (SELECT max(age) FROM ages WHERE age <= ?)"
        self._database.execute(useless, (age - limit_s,))

    def newest_beyond(self, limit_s: float) -> int:
        """Return the newest number that is at least so old; -1 if no mark is. Raises sqlite3.Error."""
        question = "SELECT seq FROM ages WHERE age <= ? ORDER BY age DESC LIMIT 1"
        row = self._database.execute(question, (self.age() - limit_s,)).fetchone()
        return row[0] if row and isinstance(row[0], int) else -1


def _last_mark(database: sqlite3.Connection) -> Mark | None:
    """Return the last mark; None, with all marks deleted, if it is implausible."""
    row = database.execute("SELECT age, seq, boot, seconds FROM ages ORDER BY age DESC LIMIT 1").fetchone()
    if row is None:
        return None
    age, seq, boot, seconds = row
    if all(isinstance(each, int) and 0 <= each <= MOST for each in (age, seq, seconds)) and isinstance(
        boot, bytes
    ):
        return Mark(age, seq, boot.decode(errors="replace"), seconds)
    database.execute("DELETE FROM ages")
    return None


def _age_at(now: Reading, last: Mark | None) -> float:
    if last is None:
        return 0.0
    same_boot = last.boot == now.boot != ""
    return last.age + (max(0.0, now.seconds - last.seconds) if same_boot else 0.0)
