"""The clocks of a hub on another host, estimated from round trips of the link, as NTP does."""

from collections import deque
from dataclasses import dataclass

from edged.clock import NANOSECONDS, now_ns, wall_s

KEPT = 8  # round trips, of which the fastest counts (RFC 5905, section 10: the clock filter)
DRIFT = 100e-6  # largest drift between two quartz clocks


@dataclass(frozen=True, slots=True)
class Sample:
    """One round trip, in nanoseconds: the offset to the hub's clock, its largest `error`, and the time `at`."""

    offset: int
    error: int
    wall_offset_s: float
    at: int

    def error_at(self, now: int) -> int:
        """Return the largest error at `now`; it grows with time, as clocks drift."""
        return self.error + round(DRIFT * max(0, now - self.at))


class HubClock:
    """Estimates the hub's clocks. Not needed on the hub's host, where CLOCK_MONOTONIC is the same."""

    def __init__(self, *, same_host: bool) -> None:
        self.same_host = same_host
        self._samples: deque[Sample] = deque(maxlen=KEPT)

    @property
    def is_known(self) -> bool:
        return self.same_host or bool(self._samples)

    def forget(self) -> None:
        """Forget all samples: the hub may be a new one."""
        self._samples.clear()

    def add_answer(self, sent_ns: int, hub_ns: int, hub_s: float, received_ns: int) -> None:
        """Add an answer: sent at `sent_ns` of our clock, `hub_ns` and `hub_s` by the hub's two clocks."""
        middle_ns = (sent_ns + received_ns) // 2
        wall_middle_s = wall_s() - (now_ns() - middle_ns) / NANOSECONDS
        error = (received_ns - sent_ns + 1) // 2
        self._samples.append(Sample(hub_ns - middle_ns, error, hub_s - wall_middle_s, received_ns))

    def offset_ns(self) -> tuple[int, int]:
        """Return the offset from our monotonic clock to the hub's, and its largest error; (0, 0) if unknown."""
        if self.same_host or not self._samples:
            return 0, 0
        best, error = self._best()
        return best.offset, error

    def to_hub_time(self, at_ns: int, at_s: float) -> tuple[int, float, int]:
        """Convert a moment of our two clocks to the hub's; also return the largest error in nanoseconds."""
        if self.same_host:
            return at_ns, at_s, 0
        best, error = self._best()
        return max(0, at_ns + best.offset), at_s + best.wall_offset_s, error

    def _best(self) -> tuple[Sample, int]:
        """Return the round trip with the least error now, and that error."""
        now = now_ns()
        best = min(self._samples, key=lambda sample: sample.error_at(now))
        return best, best.error_at(now)
