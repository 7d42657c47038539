"""A bar with the speed and the time left, of a command that classifies many pictures."""

import time

from edged.cli.terminal import StatusLine, format_time

BAR = 20
EVERY_S = 30.0  # between two lines of progress, without a terminal
REFRESH_S = 0.1


class Progress:
    """How many of `count` pictures are done. `begun_at`: those that an interrupted run has answered."""

    def __init__(self, begun_at: int, count: int) -> None:
        self._begun_at, self._count = begun_at, max(1, count)
        self._line = StatusLine(every_s=EVERY_S)
        self._start = self._shown_at = time.perf_counter()

    def show(self, done: int, remark: str) -> None:
        """Show how far it is, with a remark."""
        now = time.perf_counter()
        if now - self._shown_at < REFRESH_S:
            return
        self._shown_at = now
        bar = "#" * min(BAR, BAR * done // self._count)
        rate = self.rate(done, now - self._start)
        left = format_time(max(0, self._count - done) / rate) if rate else "?"
        self._line.show(f"[{bar:-<{BAR}}] {done}/{self._count}, {remark}, {rate:.0f} pictures/s, {left} left")

    def rate(self, done: int, seconds: float) -> float:
        """Return the pictures a second of this run."""
        return (done - self._begun_at) / seconds if seconds else 0.0

    def clear(self) -> None:
        """Erase the bar."""
        self._line.clear()
