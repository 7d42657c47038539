"""Every metric, declared once.

Rates (frames a second, watts) are PromQL's work: `rate(edged_predictions_total[1m])`.
"""

from collections.abc import Mapping
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

SECONDS = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2, 5, 10)
JOULES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


class Metrics:
    """The metrics of one hub, in a registry of their own."""

    def __init__(self, version: str) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # it would add a gauge to every counter
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, buckets=SECONDS, registry=registry)
        self.frames = counter("edged_frames_total", "Frames that the camera captured.", ["camera"])
        self.dropped = counter(
            "edged_frames_dropped_total",
            "Frames that were let go, by the camera or by the hub.",
            ["camera", "reason"],
        )
        self.pending = gauge(
            "edged_frames_pending",
            "Frames that wait or are with a worker: captured less predicted less dropped.",
            ["camera"],
        )
        self.retried = counter(
            "edged_frames_retried_total",
            "Frames given to a worker again after the one before was lost.",
            ["camera"],
        )
        self.predictions = counter("edged_predictions_total", "Predictions published.", ["camera", "model"])
        self.known_truth = counter(
            "edged_known_truth_total",
            "Predictions of frames whose right label is known, by whether the best label was right.",
            ["camera", "result"],
        )
        self.stage = histogram(
            "edged_stage_seconds",
            "Time that each stage took; total is from the end of the capture to the publication.",
            ["camera", "stage"],
        )
        self.frame_age = histogram("edged_frame_age_seconds", "Age of a frame when a worker takes it.", ["camera"])
        self.camera_frozen = gauge(
            "edged_camera_frozen", "1 while the camera gives the same picture again and again.", ["camera"]
        )
        self.camera_up = gauge("edged_camera_up", "1 while the camera gives frames, else 0.", ["camera"])
        self.last_frame = gauge(
            "edged_last_frame_timestamp_seconds",
            "When the newest frame of the camera was captured, in seconds since 1970.",
            ["camera"],
        )
        self.reconnects = counter(
            "edged_camera_reconnects_total",
            "How often the camera came back after a failure of its source or of its process.",
            ["camera"],
        )
        self.worker_up = gauge("edged_worker_up", "1 while the worker takes jobs, else 0.", ["worker", "device"])
        self.worker_serving = gauge(
            "edged_worker_serving", "1 while the worker gets jobs; 0 while another group serves.", ["worker"]
        )
        self.switches = counter(
            "edged_switches_total",
            "How often another group of workers began to serve; worker: the first of that group.",
            ["worker"],
        )
        self.jobs = counter(
            "edged_jobs_total",
            "Jobs that the worker has answered, by how many frames they carried.",
            ["worker", "frames"],
        )
        self.job_device_seconds = counter(
            "edged_job_device_seconds_total",
            "What they took of the device: upload, forward pass and download.",
            ["worker", "frames"],
        )
        self.job_seconds = histogram(
            "edged_job_seconds", "Time from handing a job to a worker until its answer.", ["worker"]
        )
        self.frames_between = gauge(
            "edged_frames_between", "Frames that wait between two segments of a network for the next one's worker."
        )
        self.worker_restarts = counter(
            "edged_worker_restarts_total",
            "How often a worker was lost and started again or replaced, and why.",
            ["worker", "reason"],
        )
        self.energy = counter(
            "edged_energy_joules_total",
            "Energy that a power rail of a host has supplied while a worker ran there, idle time included.",
            ["node", "rail", "method"],
        )
        self.inference_joules = histogram(
            "edged_inference_joules", "Energy of one prediction.", ["method"], buckets=JOULES
        )
        self.journal_seconds = histogram(
            "edged_journal_seconds",
            "Time until predictions are committed to the journal, before they are published; no stage holds it.",
        )
        self.journal_errors = counter(
            "edged_journal_errors_total",
            "Predictions that were published before they were kept for subscribers that miss them, or without.",
            ["reason"],
        )
        self.journal_bytes = gauge("edged_journal_bytes", "What the files of the journal take on the disk.")
        self.peers_rejected = counter(
            "edged_peers_rejected_total",
            "Connections that were refused or cut off, by the key of the config that holds the address; "
            "link: cameras' and workers'.",
            ["endpoint", "reason"],
        )
        self.insecure = gauge(
            "edged_insecure",
            "1 where other hosts reach this address without a key, else 0.",
            ["endpoint"],
        )
        self.build = Info("edged_build", "The edged that runs.", registry=registry)
        self.build.info({"version": version})
        self._frames_told: dict[tuple[str, str], int] = {}

    def count_frames(self, camera: str, captured: int, dropped: Mapping[str, int], pending: int) -> None:
        """Bring the counters of a camera's frames up to these totals."""
        self.frames.labels(camera).inc(self._new(camera, "", captured))
        for reason, total in dropped.items():
            self.dropped.labels(camera, reason).inc(self._new(camera, reason, total))
        self.pending.labels(camera).set(pending)

    def _new(self, camera: str, reason: str, total: int) -> int:
        told = self._frames_told.get((camera, reason), 0)
        self._frames_told[camera, reason] = total
        return total - told
