"""Time stamps. Durations and deadlines use the monotonic clock alone; the wall clock only labels."""

import time

NANOSECONDS = 1_000_000_000


def wall_s() -> float:
    """Return seconds since 1970: for people and for other programs, never for arithmetic."""
    return time.time()


def now_ns() -> int:
    """CLOCK_MONOTONIC in nanoseconds: one time line for every process of a host."""
    return time.monotonic_ns()


def nanoseconds(seconds: float) -> int:
    """Return a duration, as `now_ns` counts."""
    return round(seconds * NANOSECONDS)


def seconds_since(start_ns: int) -> float:
    """Return seconds between `start_ns` (from `now_ns`) and now."""
    return (now_ns() - start_ns) / NANOSECONDS
