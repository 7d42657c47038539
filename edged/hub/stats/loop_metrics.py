"""The metrics as the hub's loop keeps them: brought up to date once a second and for each scrape."""

from edged.hub.frames.router import Router
from edged.hub.stats.counters import Stats
from edged.hub.stats.moments import Moments


class LoopMetrics:
    """Shows all that has been counted until now, and nothing that comes after."""

    def __init__(self, router: Router, stats: Stats, moments: Moments) -> None:
        self._router = router
        self._stats = stats
        self._moments = moments

    def fileno(self) -> int:
        """Return a descriptor that is readable while a scrape waits."""
        return self._moments.fileno()

    def update(self) -> None:
        """Bring the metrics up to date."""
        self._stats.update_metrics(self._router.ledgers)

    def serve(self) -> None:
        """Give this moment to the scrapes that wait."""
        self.update()
        self._moments.serve()

    def stop_serving(self) -> None:
        """Give the last moment; later scrapes take theirs without a loop."""
        self.update()
        self._moments.stop_serving()
