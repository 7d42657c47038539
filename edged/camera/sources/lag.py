"""How late the pictures of a connection are, by their arrivals and the camera's time stamps."""

from edged.clock import NANOSECONDS
from edged.errors import CameraError

HICCUP_S = 0.1  # by so much, or a picture's own time, a picture comes later than its stamp says: it was held up
LATE_S = 0.25
PATIENCE_S = 3.0
JUMP_S = 10.0  # five read time-outs: a damaged packet, or a clock that was set
WINDOW_S = 1.0  # over which the rate of the stamps is measured
NEW_SHARE = 0.3  # of the newest window in the rate
SLOWEST, FASTEST = 0.25, 4.0  # seconds of a picture's arrival for a second of its stamp


class Lag:
    """What holds pictures up, between a camera and us.

    Many cameras stamp by their nominal rate and send fewer pictures: by night, over weak Wi-Fi, or always. So the
    stamps run at the rate that they are seen to have, and what counts is how much later than that a picture comes
    at once; pictures that follow faster than their stamps make up for it.
    """

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None  # arrival and stamp of the last picture, in seconds
        self._rate = 1.0  # seconds of arrival for a second of the stamps
        self._is_rate_known = False
        self._window = _Window()
        self._late_s = 0.0
        self._in_time_s = self._calm_since_s = 0.0

    def late_ns(self, position_ms: float, at_ns: int) -> int:
        """Return how much later than usual the picture read at `at_ns` is; 0 if the stream has no time stamps.

        Raises CameraError if pictures stay late, or the camera's clock jumps: a new connection starts afresh.
        """
        if position_ms <= 0:
            return 0
        at_s, stamp_s = at_ns / NANOSECONDS, position_ms / 1000
        if self._last is None:
            self._last, self._in_time_s = (at_s, stamp_s), at_s
            return 0
        waited_s, stamped_s = at_s - self._last[0], stamp_s - self._last[1]
        if abs(waited_s - stamped_s) > JUMP_S:
            raise CameraError(f"its clock jumps by {stamped_s - waited_s:.0f} s")
        self._last = at_s, stamp_s
        self._add(waited_s, stamped_s, at_s)
        if self._late_s < LATE_S:
            self._in_time_s = at_s
        if at_s - self._in_time_s > PATIENCE_S:
            raise CameraError(f"its pictures lag behind by {self._late_s:.1f} s, and do not catch up")
        return round(self._late_s * NANOSECONDS)

    def _add(self, waited_s: float, stamped_s: float, at_s: float) -> None:
        """Count a picture. What is left of a delay after a calm while is no delay, but an error of the rate."""
        later_s = waited_s - self._rate * stamped_s
        is_held_up = later_s > max(HICCUP_S, stamped_s)
        if is_held_up or self._late_s:
            self._late_s = max(0.0, self._late_s + later_s)
        if is_held_up or self._late_s >= LATE_S:
            self._calm_since_s = at_s
        if at_s - self._calm_since_s > WINDOW_S:
            self._late_s = 0.0
        if self._late_s:
            self._window = _Window()
            return
        self._window.add(waited_s, stamped_s)
        if self._window.waited_s >= WINDOW_S and (rate := self._window.rate()):
            share = NEW_SHARE if self._is_rate_known else 1.0
            self._rate += share * (rate - self._rate)
            self._is_rate_known = True
            self._window = _Window()


class _Window:
    """Pictures none of which was held up."""

    def __init__(self) -> None:
        self.waited_s = self._stamped_s = 0.0

    def add(self, waited_s: float, stamped_s: float) -> None:
        self.waited_s += waited_s
        self._stamped_s += stamped_s

    def rate(self) -> float | None:
        """Return the seconds of arrival for a second of the stamps; None if they cannot be stamps of time."""
        if not SLOWEST * self._stamped_s <= self.waited_s <= FASTEST * self._stamped_s:
            return None
        return self.waited_s / self._stamped_s
