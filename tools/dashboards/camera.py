"""One camera, or several: whether it gives frames, how old they are, and whether what it sees has changed."""

from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard

from tools.dashboards.frame import CAMERA, NODE, Row, dashboard
from tools.dashboards.panels import BAD, GOOD, PER_SECOND, WARN, Panel, Series, lines, spread, states
from tools.dashboards.pipeline import AGE, OLD
from tools.dashboards.promql import happening, mean, of_camera, quantile, rate, share

NAME = "{{node}} {{camera}}"
BOTH = ("node", "camera")


def build() -> Dashboard:
    return dashboard(
        "camera",
        "edged / Camera",
        "Whether a camera is down or frozen, what becomes of its frames, and whether its scores or labels drift.",
        [NODE, CAMERA],
        [
            Row("Is a camera down, or frozen?", _alive()),
            Row("How old is what I see?", _age()),
            Row("What was dropped, and why?", _frames()),
            Row("Is the accuracy drifting?", _drift()),
        ],
    )


def _alive() -> list[Panel]:
    up, frozen = of_camera("edged_camera_up"), of_camera("edged_camera_frozen")
    newest = of_camera("edged_last_frame_timestamp_seconds")
    return [
        states(
            "Does it give frames?",
            "Frozen: the same picture again and again, for frozen_s.",
            Series(f"{up} * (1 + {frozen})", NAME),
            words={0: ("down", BAD), 1: ("gives frames", GOOD), 2: ("frozen", WARN)},
        ),
        lines(
            "How long ago was its newest frame?",
            units.Seconds,
            "When Prometheus asked; grows while a camera is down.",
            Series(f"timestamp({newest}) - {newest}", NAME),
            limits=((5, WARN), (30, BAD)),
            width=6,
        ),
        lines(
            "How often did it come back?",
            units.Short,
            "After a failure of its source or its process, since edged started.",
            Series(of_camera("edged_camera_reconnects_total"), NAME),
            width=6,
        ),
    ]


def _age() -> list[Panel]:
    parts = of_camera("edged_stage_seconds", 'stage!="total"')
    return [
        lines(
            "How old is a prediction when it is published?",
            units.Seconds,
            "From the end of the capture to the publication.",
            *(Series(quantile(of, AGE, *BOTH), f"{NAME} p{of * 100:.0f}") for of in (0.5, 0.99)),
            limits=OLD,
            width=8,
        ),
        lines(
            "How old is a frame when a worker takes it (p99)?",
            units.Seconds,
            "High where workers are too slow, or the link from the camera is.",
            Series(quantile(0.99, of_camera("edged_frame_age_seconds_bucket"), *BOTH), NAME),
            width=8,
        ),
        lines(
            "Where do its milliseconds go, on average?",
            units.Seconds,
            "By stage; capture is the camera's own time, and no part of the age.",
            Series(mean(parts, *BOTH, "stage"), f"{NAME} {{{{stage}}}}"),
            width=8,
        ),
    ]


def _frames() -> list[Panel]:
    dropped = of_camera("edged_frames_dropped_total")
    return [
        lines(
            "How many frames does it give, and how many are predicted?",
            PER_SECOND,
            "Captured = predicted + dropped + pending, exactly.",
            Series(rate(of_camera("edged_frames_total"), *BOTH), f"{NAME} captured"),
            Series(rate(of_camera("edged_predictions_total"), *BOTH), f"{NAME} predicted"),
            width=8,
        ),
        lines(
            "Why are its frames dropped?",
            PER_SECOND,
            "docs/reference/metrics.md explains each reason.",
            Series(happening(dropped, *BOTH, "reason"), f"{NAME}: {{{{reason}}}}"),
            stacked=True,
            nothing="No frames were dropped",
            width=8,
        ),
        lines(
            "How many wait, or are with a worker?",
            units.Short,
            "Should stay within freshness.keep and the workers' credit.",
            Series(of_camera("edged_frames_pending"), f"{NAME} pending"),
            width=8,
        ),
    ]


def _drift() -> list[Panel]:
    scores, labels, truth = "edged_score_bucket", "edged_labels_total", "edged_known_truth_total"
    right = of_camera(truth, 'result="right"')
    return [
        spread(
            "How sure is the network?",
            units.PercentUnit,
            "Scores of the best labels. A camera that moved, gets dirty or sees something new makes them sink.",
            rate(of_camera(scores), "le"),
        ),
        lines(
            "Do the scores sink?",
            units.PercentUnit,
            "Half of the best labels score below p50, one in ten below p10.",
            *(Series(quantile(of, of_camera(scores), *BOTH), f"{NAME} p{of * 100:.0f}") for of in (0.5, 0.1)),
        ),
        lines(
            "Which labels come up?",
            PER_SECOND,
            "The best label of each prediction; those beyond the first that came up are `other`.",
            Series(rate(of_camera(labels), "label"), "{{label}}"),
            stacked=True,
        ),
        lines(
            "How often is it right?",
            units.PercentUnit,
            "Where the truth is known: synthetic cameras, folders named by label.",
            Series(share(rate(right, *BOTH), rate(of_camera(truth), *BOTH)), NAME),
            nothing="The labels of this camera's pictures are not known",
        ),
    ]
