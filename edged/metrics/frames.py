"""Metrics of frames and of what was predicted from them."""

from edged.metrics.declare import SHARES, Declare


class FrameMetrics:
    """Captured = predicted + pending + dropped, and where the time went."""

    def __init__(self, declare: Declare) -> None:
        self.frames = declare.quick_counter("edged_frames_total", "Frames that the camera captured.", ["camera"])
        self.dropped = declare.quick_counter(
            "edged_frames_dropped_total",
            "Frames that were let go, by the camera or by the hub.",
            ["camera", "reason"],
        )
        self.pending = declare.quick_gauge(
            "edged_frames_pending",
            "Frames that wait or are with a worker: captured less predicted less dropped.",
            ["camera"],
        )
        self.retried = declare.quick_counter(
            "edged_frames_retried_total",
            "Frames given to a worker again after the one before was lost.",
            ["camera"],
        )
        self.predictions = declare.quick_counter(
            "edged_predictions_total", "Predictions published.", ["camera", "model"]
        )
        self.known_truth = declare.quick_counter(
            "edged_known_truth_total",
            "Predictions of frames whose right label is known, by whether the best label was right.",
            ["camera", "result"],
        )
        self.score = declare.quick_histogram(
            "edged_score", "Score of the best label of each prediction.", ["camera"], bounds=SHARES
        )
        self.labels = declare.quick_counter(
            "edged_labels_total",
            "Predictions by their best label: the first metrics.labels that come up by name, the rest as other.",
            ["camera", "label"],
        )
        self.stage = declare.quick_histogram(
            "edged_stage_seconds",
            "Time that each stage took; total is from the end of the capture to the publication.",
            ["camera", "stage"],
        )
        self.frame_age = declare.quick_histogram(
            "edged_frame_age_seconds", "Age of a frame when a worker takes it.", ["camera"]
        )
