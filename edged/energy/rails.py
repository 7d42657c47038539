"""Rails: measured power supplies, each a cumulative counter of energy in a file."""

from dataclasses import dataclass
from pathlib import Path

JOULES_PER_MICROJOULE = 1e-6


@dataclass(frozen=True)
class Rail:
    """A counter of microjoules in a file.

    `range_joules`: the value at which it starts again from zero, None for one that never does in practice.
    `overlaps`: its joules are part of another rail's (a core's in its package's).
    """

    name: str
    path: Path
    range_joules: float | None = None
    overlaps: bool = False

    def read(self) -> float:
        """Joules since a moment unknown. Raises OSError or ValueError where the file gives no number."""
        return int(self.path.read_text()) * JOULES_PER_MICROJOULE


@dataclass(frozen=True)
class Unreadable:
    """A rail that is there but cannot be read, and what to do about it."""

    name: str
    path: Path
    reason: str
    remedy: str


def probe(rail: Rail) -> Rail | Unreadable:
    """The rail itself if a reading succeeds, else why not."""
    try:
        rail.read()
    except PermissionError:
        remedy = f"run as root, or let this user read it: chmod a+r {rail.path} (a udev rule keeps that)"
        return Unreadable(rail.name, rail.path, "permission denied", remedy)
    except (OSError, ValueError) as error:
        return Unreadable(rail.name, rail.path, f"no reading ({error})", "see the kernel's log for its driver")
    return rail


def joules_between(before: float, now: float, range_joules: float | None) -> float | None:
    """What a counter added between two readings, over one wrap; None where it was reset.

    A counter that goes down has wrapped only if it was in the upper half of its range and is in the lower
    one now; a driver that was loaded again starts from zero at any value, and what it missed nobody knows.
    """
    if now >= before:
        return now - before
    if range_joules and before > range_joules / 2 > now:
        return now + range_joules - before
    return None


def text_of(path: Path) -> str:
    """What a small sysfs file says; empty where there is no such file."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
