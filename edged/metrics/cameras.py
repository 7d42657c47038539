"""Metrics of cameras."""

from edged.metrics.declare import Declare


class CameraMetrics:
    """Whether each gives new pictures."""

    def __init__(self, declare: Declare) -> None:
        self.camera_frozen = declare.quick_gauge(
            "edged_camera_frozen", "1 while the camera gives the same picture again and again.", ["camera"]
        )
        self.camera_up = declare.quick_gauge(
            "edged_camera_up", "1 while the camera gives frames, else 0.", ["camera"]
        )
        self.last_frame = declare.quick_gauge(
            "edged_last_frame_timestamp_seconds",
            "When the newest frame of the camera was captured, in seconds since 1970.",
            ["camera"],
        )
        self.reconnects = declare.quick_counter(
            "edged_camera_reconnects_total",
            "How often the camera came back after a failure of its source or of its process.",
            ["camera"],
        )
        self.snapshots = declare.quick_counter(
            "edged_snapshots_total",
            "Small pictures of frames that the camera sent: published; or not, as they were not_wanted, too_many, "
            "too_large or malformed.",
            ["camera", "result"],
        )
