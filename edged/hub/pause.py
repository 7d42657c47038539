"""Whether the hub itself has stood still: stopped by a signal, or without a processor."""

from edged.clock import NANOSECONDS, now_ns

NOTICED_NS = NANOSECONDS // 2  # less than this is a turn of the loop on a busy machine


class Pause:
    """Looks at the time between two turns of the loop."""

    def __init__(self) -> None:
        self._due_ns = now_ns()

    def sleeps(self, wait_ms: int) -> None:
        """The loop is about to wait for so long at most."""
        self._due_ns = now_ns() + wait_ms * 1_000_000

    def since_due_ns(self) -> int:
        """How much later the loop goes on than it should: 0 where that is nothing to speak of.

        To be called at each turn, after the wait and after the work.
        """
        now = now_ns()
        late_ns, self._due_ns = now - self._due_ns, now
        return late_ns if late_ns > NOTICED_NS else 0
