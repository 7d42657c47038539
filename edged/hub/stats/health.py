"""Whether the hub is alive and ready, for the probes of orchestrators: `/healthz` and `/readyz`."""

from collections.abc import Callable, Sequence

from edged.clock import NANOSECONDS, nanoseconds, now_ns

LIVE_S = 10.0  # longest time between two reports of the loop, which reports each second


class Health:
    """What the loop last reported. Reported by the hub's thread, read by others."""

    def __init__(self, failed_services: Callable[[], Sequence[str]]) -> None:
        """failed_services: returns the names of the service threads that have failed."""
        self._failed_services = failed_services
        self._reported: tuple[int, bool] = (now_ns(), False)  # one object, so that no reader sees half of a report

    def report(self, now: int, *, ready: bool) -> None:
        """Report that the loop turns, and whether a worker is ready."""
        self._reported = now, ready

    def why_not_live(self) -> str:
        """Return why the process should be restarted; empty if it should not."""
        stalled_ns = now_ns() - self._reported[0]
        if stalled_ns <= nanoseconds(LIVE_S):
            return ""
        return f"the hub's loop has not turned for {stalled_ns / NANOSECONDS:.0f} s"

    def why_not_ready(self) -> str:
        """Return why no predictions can be expected; empty if they can."""
        if problem := self.why_not_live():
            return problem
        if failed := self._failed_services():
            return f"failed: {', '.join(failed)}"
        return "" if self._reported[1] else "no worker is ready"
