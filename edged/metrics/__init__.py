"""Every metric, declared once, by theme.

Rates (frames a second, watts) are PromQL's work: `rate(edged_predictions_total[1m])`.
"""

from collections.abc import Mapping

from prometheus_client import (
    Info,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from edged.metrics.catalog import (
    CameraMetrics,
    EnergyMetrics,
    FrameMetrics,
    HostMetrics,
    HubMetrics,
    JobMetrics,
    JournalMetrics,
    PredictionMetrics,
    WorkerMetrics,
)
from edged.metrics.declare import Declare

THEMES = (
    *(FrameMetrics, PredictionMetrics, CameraMetrics, WorkerMetrics, JobMetrics),
    *(EnergyMetrics, HostMetrics, JournalMetrics, HubMetrics),
)


class Metrics(
    FrameMetrics,
    PredictionMetrics,
    CameraMetrics,
    WorkerMetrics,
    JobMetrics,
    EnergyMetrics,
    HostMetrics,
    JournalMetrics,
    HubMetrics,
):
    """The metrics of one hub, in a registry of their own."""

    def __init__(self, version: str) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # it would add a gauge to every counter
        declare = Declare()
        self.registry, self.now, self.text = declare.registry, declare.now, declare.text
        ProcessCollector(registry=declare.library)
        PlatformCollector(registry=declare.library)
        for theme in THEMES:
            theme.__init__(self, declare)
        self.build = Info("edged_build", "The edged that runs.", registry=declare.library)
        self.build.info({"version": version})
        self._frames_counted: dict[tuple[str, str], int] = {}

    def count_frames(self, camera: str, captured: int, dropped: Mapping[str, int], pending: int) -> None:
        """Raise the counters of a camera's frames to these totals."""
        self.frames.labels(camera).inc(self._new(camera, "", captured))
        for reason, total in dropped.items():
            self.dropped.labels(camera, reason).inc(self._new(camera, reason, total))
        self.pending.labels(camera).set(pending)

    def _new(self, camera: str, reason: str, total: int) -> int:
        counted = self._frames_counted.get((camera, reason), 0)
        self._frames_counted[camera, reason] = total
        return total - counted
