"""One board, or several, as a whole: what comes out, how old it is, where the time goes and what is lost."""

from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard

from tools.dashboards.frame import CAMERA, NODE, Row, dashboard
from tools.dashboards.panels import BAD, PER_SECOND, WARN, Panel, Series, bars, lines, number, spread
from tools.dashboards.promql import grown, happening, mean, of_camera, quantile, rate, share
from tools.dashboards.service import journal, notifications, refused
from tools.dashboards.workers import on_a_fallback, workers

TOTAL = 'stage="total"'
LOST = 'reason!~"max_fps|motion|superseded|shutdown"'  # the others are dropped by configuration
AGE = of_camera("edged_stage_seconds_bucket", TOTAL)
OLD = ((0.25, WARN), (0.5, BAD))  # freshness.max_age_s is 0.5 where the config says nothing


def build() -> Dashboard:
    return dashboard(
        "pipeline",
        "edged / Pipeline",
        "From the capture of a frame to its prediction: how much, how old, where the time goes, what is dropped.",
        [NODE, CAMERA],
        [
            Row("Is it well?", _now()),
            Row("How old is what I see?", _age()),
            Row("Where do the milliseconds go?", _stages()),
            Row("What was dropped, and why?", _dropped()),
            Row("Which device answers, and did it fall back?", workers()),
            Row("Is the journal filling up?", journal()),
            Row("Do the notifications arrive?", notifications()),
            Row("Who was refused?", refused()),
        ],
    )


def _now() -> list[Panel]:
    lost = rate(of_camera("edged_frames_dropped_total", LOST))
    return [
        number("Predictions", PER_SECOND, "Published.", rate(of_camera("edged_predictions_total"))),
        number("Age, p99", units.Seconds, "Capture to publication.", quantile(0.99, AGE), limits=OLD),
        number(
            "Frames lost",
            units.PercentUnit,
            "Share of those captured; drops by max_fps, motion and newer frames are no loss.",
            share(lost, rate(of_camera("edged_frames_total"))),
            limits=((0.05, WARN), (0.5, BAD)),
        ),
        number(
            "Cameras without frames",
            units.Short,
            "Down; see the dashboard Camera.",
            f"sum(1 - {of_camera('edged_camera_up')})",
            limits=((1, BAD),),
        ),
        number(
            "Cameras frozen",
            units.Short,
            "The same picture again and again.",
            f"sum({of_camera('edged_camera_frozen')})",
            limits=((1, BAD),),
        ),
        on_a_fallback(),
    ]


def _age() -> list[Panel]:
    name = "{{node}} {{camera}}"
    return [
        lines(
            "How old is a prediction when it is published?",
            units.Seconds,
            "From the end of the capture to the publication, by camera.",
            *(Series(quantile(of, AGE, "node", "camera"), f"{name} p{of * 100:.0f}") for of in (0.5, 0.99)),
            limits=OLD,
        ),
        spread(
            "How is that age spread?",
            units.Seconds,
            "How many predictions had which age.",
            rate(AGE, "le"),
        ),
    ]


def _stages() -> list[Panel]:
    parts = of_camera("edged_stage_seconds", 'stage!~"total|capture"')
    every = of_camera("edged_stage_seconds_bucket", 'stage!="total"')
    return [
        lines(
            "Where does the time of a frame go, on average?",
            units.Seconds,
            "The stages from the end of the capture on, one upon the other: their sum is the age at publication.",
            Series(mean(parts, "stage"), "{{stage}}"),
            stacked=True,
        ),
        lines(
            "How long does each stage take at worst (p99)?",
            units.Seconds,
            "Capture is the time that the camera itself takes for a frame; it is no part of the age.",
            Series(quantile(0.99, every, "stage"), "{{stage}}"),
        ),
    ]


def _dropped() -> list[Panel]:
    dropped = of_camera("edged_frames_dropped_total")
    return [
        lines(
            "What becomes of the frames?",
            PER_SECOND,
            "Captured = predicted + dropped + pending, exactly.",
            Series(rate(of_camera("edged_frames_total")), "captured"),
            Series(rate(of_camera("edged_predictions_total")), "predicted"),
            Series(rate(dropped), "dropped"),
            width=8,
        ),
        lines(
            "Why are frames dropped?",
            PER_SECOND,
            "docs/reference/metrics.md explains each reason.",
            Series(happening(dropped, "reason"), "{{reason}}"),
            stacked=True,
            nothing="No frames were dropped",
            width=8,
        ),
        bars(
            "How many, in the time shown?",
            units.Short,
            "By reason; retried are those given to a second worker, which may still be predicted.",
            Series(f"{grown(dropped, 'reason')} > 0", "{{reason}}"),
            Series(grown(of_camera("edged_frames_retried_total")), "retried"),
            width=8,
        ),
    ]
