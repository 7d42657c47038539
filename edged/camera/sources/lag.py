"""How late a stream's pictures are, by the camera's own clock: after a short stall, old ones come in a burst."""

from edged.clock import NANOSECONDS
from edged.errors import CameraError

DRIFT = 100  # the camera's clock may run slower than ours by one part in so many
LATE_NS = NANOSECONDS // 4
PATIENCE_NS = 3 * NANOSECONDS
JUMP_NS = 10 * NANOSECONDS  # a picture is waited for only a fifth of it: a damaged packet, or a clock that was set


class Lag:
    """Compares our clock with the positions of one connection's pictures; the least lag seen is no lag."""

    def __init__(self) -> None:
        self._least_ns: int | None = None
        self._seen_ns = 0
        self._in_time_ns = 0

    def late_ns(self, position_ms: float, at_ns: int) -> int:
        """How much older than usual a picture is that was read at `at_ns`; 0 where the stream does not say.

        Raises CameraError when pictures stay late, or the camera's clock jumps: a new connection begins with new
        ones, and mends a wrong clock.
        """
        if position_ms <= 0:
            return 0
        lag_ns = at_ns - round(position_ms * 1e6)
        if self._least_ns is None:
            self._least_ns, self._seen_ns, self._in_time_ns = lag_ns, at_ns, at_ns
        if abs(lag_ns - self._least_ns) > JUMP_NS:
            raise CameraError(f"its clock jumps by {(self._least_ns - lag_ns) / NANOSECONDS:.0f} s")
        self._least_ns = min(lag_ns, self._least_ns + (at_ns - self._seen_ns) // DRIFT)
        self._seen_ns = at_ns
        late_ns = lag_ns - self._least_ns
        if late_ns < LATE_NS:
            self._in_time_ns = at_ns
        if at_ns - self._in_time_ns > PATIENCE_NS:
            raise CameraError(f"its pictures lag behind by {late_ns / NANOSECONDS:.1f} s, and do not catch up")
        return late_ns
