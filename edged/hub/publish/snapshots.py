"""Snapshots on their way from cameras to viewers: published as they arrive, and never stored."""

from collections.abc import Callable, Mapping, Sequence

import zmq

from edged import config
from edged.clock import nanoseconds
from edged.hub.links.sockets import Part
from edged.messages import Snapshot, SnapshotSettings
from edged.metrics import Metrics

JPEG = b"\xff\xd8\xff"  # the first bytes of each


class Snapshots:
    """Limits the snapshots of each camera to its config, whichever peer sends them."""

    def __init__(
        self,
        publish: Callable[[Snapshot, Part], None],
        metrics: Metrics,
        cameras: Mapping[str, config.CameraConfig],
    ) -> None:
        self._publish = publish
        self._metrics = metrics
        self._due_ns: dict[str, int] = {}
        self.grant(cameras)

    def grant(self, cameras: Mapping[str, config.CameraConfig]) -> None:
        """Apply these settings from now on."""
        self._granted = {name: camera.snapshot for name, camera in cameras.items() if camera.snapshot}

    def order_for(self, camera: str) -> SnapshotSettings | None:
        """Return which snapshots a camera must send; None: none."""
        granted = self._granted.get(camera)
        if granted is None:
            return None
        return SnapshotSettings(
            every_s=granted.every_s, width=granted.width, quality=granted.quality, max_bytes=_bytes(granted)
        )

    def receive(self, snapshot: Snapshot, payloads: Sequence[zmq.Frame], now_ns: int) -> None:
        """Publish a snapshot, or count in the metrics why not."""
        result = self._problem(snapshot.camera, payloads, now_ns) or "published"
        self._metrics.snapshots.labels(snapshot.camera, result).inc()
        if result == "published":
            self._publish(snapshot, payloads[0])

    def _problem(self, camera: str, payloads: Sequence[zmq.Frame], now_ns: int) -> str:
        granted = self._granted.get(camera)
        if granted is None:
            return "not_wanted"  # no longer: it may have been on its way
        if len(payloads) != 1 or bytes(payloads[0].buffer[:3]) != JPEG:
            return "malformed"
        if len(payloads[0].buffer) > _bytes(granted):
            return "too_large"
        every_ns = nanoseconds(granted.every_s)
        due_ns = self._due_ns.get(camera, 0)
        if now_ns < due_ns - every_ns:  # one may come early: the one before may have been delayed
            return "too_many"
        self._due_ns[camera] = max(due_ns, now_ns) + every_ns
        return ""


def _bytes(granted: config.SnapshotConfig) -> int:
    return 1024 * granted.max_kilobytes
