"""All metrics together: how many series they are, and that they fit what they measure."""

from itertools import pairwise
from typing import get_args

from prometheus_client import Histogram
from prometheus_client.parser import text_string_to_metric_families

from edged.hub.journal.schema import Reason
from edged.hub.links.authentication import REASONS, Rejections
from edged.hub.publish.notifier import Fate
from edged.hub.publish.sender import What
from edged.hub.service_threads import ServiceName
from edged.hub.stats.counters import LabelCounts
from edged.hub.wiring import ENDPOINTS
from edged.messages import STAGES, EnergyMethod
from edged.messages.worker import MOST
from edged.metrics import Metrics
from edged.metrics.catalog import DROPPED, LOST, REFUSED
from edged.metrics.declare import SECONDS
from edged.metrics.fast import Family, HistogramSeries

CAMERAS, WORKERS, LABELS, LAYERS = 64, 4, 1000, 200
BY_CAMERA = 250 + 21 + 17  # stages are 8 × 20 of them; 21 are boxes, of a detector alone, 17 of requests
BY_WORKER = 300  # the sensors and frequencies of its host are 4 × 32 of them
OTHERS = 300
WHILE_ATTACHED = 2 * LAYERS  # of `edged profile --attach`


def test_frames_are_counted_from_totals() -> None:
    metrics = Metrics("1.2.3")
    metrics.count_frames("door", 10, {"stale": 2}, pending=1)
    metrics.count_frames("door", 15, {"stale": 2, "motion": 3}, pending=0)
    sample = metrics.registry.get_sample_value
    assert sample("edged_frames_total", {"camera": "door"}) == 15
    assert sample("edged_frames_dropped_total", {"camera": "door", "reason": "stale"}) == 2
    assert sample("edged_frames_dropped_total", {"camera": "door", "reason": "motion"}) == 3
    assert sample("edged_frames_pending", {"camera": "door"}) == 0


def test_every_metric_has_the_prefix_a_help_text_and_no_time_of_creation() -> None:
    text = "".join(Metrics("1.2.3").text())
    families = list(text_string_to_metric_families(text))
    ours = [family for family in families if not family.name.startswith(("process_", "python_"))]
    assert len(ours) >= 30
    assert all(family.name.startswith("edged_") and family.documentation.endswith(".") for family in ours)
    assert "_created" not in text
    assert " # {" not in text  # exemplars


def a_big_pipeline() -> Metrics:
    """Everything that can happen has happened to everybody."""
    metrics = Metrics("1.2.3")
    Rejections(metrics.peers_rejected, ENDPOINTS)
    _to_cameras(metrics)
    _to_workers(metrics)
    _to_the_hub(metrics)
    return metrics


def _to_cameras(metrics: Metrics) -> None:
    labels, boxes = LabelCounts(metrics.labels, most=20), LabelCounts(metrics.boxes, most=20)
    for camera in (f"c{index}" for index in range(CAMERAS)):
        metrics.count_frames(camera, 1, dict.fromkeys(DROPPED, 0), pending=1)
        for stage in STAGES:
            metrics.stage.labels(camera, stage).observe(0.01)
        for label in range(LABELS):
            labels.add(camera, f"label {label}")
            boxes.add(camera, f"label {label}")
        for family in (metrics.frame_age, metrics.score):
            family.labels(camera).observe(0.5)
        for counter in (metrics.retried, metrics.reconnects, metrics.camera_up, metrics.last_frame):
            counter.labels(camera).inc()
        for result in ("right", "wrong"):
            metrics.known_truth.labels(camera, result)
        for result in ("published", "not_wanted", "too_many", "too_large", "malformed"):
            metrics.snapshots.labels(camera, result)
        metrics.predictions.labels(camera, "m")
        metrics.camera_frozen.labels(camera)
        metrics.camera_ended.labels(camera)
        metrics.serve_late.labels(camera)
        for reason in REFUSED:
            metrics.serve_refused.labels(camera, reason)


def _to_workers(metrics: Metrics) -> None:
    metrics.model_info.labels("digits", "0" * 64, "0" * 64)
    for worker in (f"big-{index}" for index in range(WORKERS)):
        for frames in range(1, 17):
            metrics.jobs.labels(worker, frames)
            metrics.job_device_seconds.labels(worker, frames)
        metrics.job_seconds.labels(worker)
        metrics.decode_seconds.labels(worker)
        metrics.one_launch_jobs.labels(worker)
        metrics.waits_given_up.labels(worker)
        metrics.worker_up.labels(worker, "Mali-T624")
        for gauge in (metrics.worker_serving, metrics.switches):
            gauge.labels(worker)
        for reason in LOST:
            metrics.worker_restarts.labels(worker, reason)
        for place in map(str, range(MOST)):
            for family in (metrics.temperature, metrics.frequency, metrics.frequency_limit, metrics.frequency_max):
                family.labels(worker, place)
        for rail in ("SYS", "BIG", "LITTLE", "GPU"):
            metrics.energy.labels(worker, rail, "measured")
            metrics.idle_watts.labels(worker, rail)


def _to_the_hub(metrics: Metrics) -> None:
    for layer in range(LAYERS):
        metrics.layer_seconds.labels(f"layer {layer}", "direct").observe(0.001)
    for method in get_args(EnergyMethod):
        metrics.inference_joules.labels(method).observe(1)
    for reason in get_args(Reason):
        metrics.journal_errors.labels(reason)
    for endpoint in ENDPOINTS:
        metrics.insecure.labels(endpoint)
    for service in get_args(ServiceName):
        metrics.service_up.labels(service)
        metrics.service_failures.labels(service)
    for what in get_args(What):
        metrics.stream_unsent.labels(what)
    for fate in get_args(Fate):
        metrics.notifications.labels(fate)
    metrics.config_info.labels("0" * 64)


def test_in_a_big_pipeline_every_metric_takes_part() -> None:
    families = list(text_string_to_metric_families("".join(a_big_pipeline().text())))
    assert len(families) >= 30
    assert [family.name for family in families if not family.samples] == []


def test_a_big_pipeline_stays_within_its_series() -> None:
    text = "".join(a_big_pipeline().text())
    series = sum(not line.startswith("#") for line in text.splitlines())
    assert len(REASONS) * len(ENDPOINTS) < OTHERS
    assert CAMERAS * 200 < series <= CAMERAS * BY_CAMERA + WORKERS * BY_WORKER + OTHERS + WHILE_ATTACHED


def test_buckets_fit_a_millisecond_to_ten_seconds() -> None:
    assert (SECONDS[0], SECONDS[-1]) == (0.001, 10)
    steps = [high / low for low, high in pairwise(SECONDS)]
    assert max(steps) <= 2.5  # so that a quantile is never off by more
    metrics = Metrics("1.2.3")
    timed = {name: metric for name, metric in vars(metrics).items() if name.endswith(("seconds", "stage", "age"))}
    assert {"stage", "frame_age", "job_seconds", "journal_seconds"} <= timed.keys()
    for metric in timed.values():
        if isinstance(metric, Histogram):
            assert tuple(metric._upper_bounds[:-1]) == SECONDS
        elif isinstance(metric, Family) and isinstance(
            child := metric.labels(*metric.labelnames), HistogramSeries
        ):
            assert child._bounds == SECONDS
