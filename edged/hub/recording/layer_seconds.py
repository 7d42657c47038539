"""What each layer takes, while somebody has it measured."""

from collections.abc import Sequence

from prometheus_client import Summary

from edged.messages import JobTimes, KernelCost


class LayerSeconds:
    """The metric is there only meanwhile: who looks later is not to take old figures for new ones."""

    def __init__(self, metric: Summary) -> None:
        self._metric = metric
        self._of_worker: dict[str, list[Summary]] = {}

    def are(self, worker: str, costs: Sequence[KernelCost]) -> None:
        """The kernels of a worker, in the order of its launches."""
        self._of_worker[worker] = [self._metric.labels(cost.operator, cost.kernel) for cost in costs]

    def add(self, worker: str, jobs: Sequence[JobTimes]) -> int:
        """What they took. Returns of how many frames the layers were timed."""
        timed = 0
        for job in jobs:
            kernels = job.device.kernels if job.device else ()
            timed += job.frames if kernels else 0
            for metric, (start_ns, end_ns) in zip(self._of_worker.get(worker, ()), kernels, strict=False):
                metric.observe((end_ns - start_ns) * 1e-9)
        return timed

    def forget(self) -> None:
        """It ends."""
        self._metric.clear()
        self._of_worker.clear()
