"""All boards beside each other: which one needs attention."""

from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard

from tools.dashboards.energy import NO_SENSOR
from tools.dashboards.frame import FIRING, JOB, NODE, Row, dashboard
from tools.dashboards.heat import HOT, heat
from tools.dashboards.panels import (
    BAD,
    GOOD,
    PER_SECOND,
    WARN,
    Panel,
    Series,
    bars,
    lines,
    number,
    states,
)
from tools.dashboards.pipeline import LOST, OLD
from tools.dashboards.promql import of_node, quantile, rate, share
from tools.dashboards.service import journal, refused
from tools.dashboards.table import Column, by_label
from tools.dashboards.workers import on_a_fallback

AGE = of_node("edged_stage_seconds_bucket", 'stage="total"')
UP = of_node("up", JOB)
PIPELINE = "/d/edged-pipeline?var-node=${__data.fields.node}&${__url_time_range}"


def build() -> Dashboard:
    return dashboard(
        "fleet",
        "edged / Fleet",
        "Every board in a line, what is wrong with which, and how they compare.",
        [NODE],
        [
            Row("Does anybody need me?", [*_now(), _boards(), _alerts(), _up(), _versions()]),
            Row("How do they compare?", _compared()),
            Row("Is a board throttling?", heat()),
            Row("Is a journal filling up?", journal()),
            Row("Who was refused?", refused()),
        ],
    )


def _now() -> list[Panel]:
    down = f"sum(1 - {UP})"
    return [
        number("Boards", units.Short, "That Prometheus asks.", f"count({UP})"),
        number("Boards that do not answer", units.Short, "See below which.", down, limits=((1, BAD),)),
        number("Alerts", units.Short, "Firing now.", f"count({FIRING}) or vector(0)", limits=((1, BAD),)),
        number(
            "Cameras without frames",
            units.Short,
            "Down; frozen ones give frames, the same again and again.",
            f"sum(1 - {of_node('edged_camera_up')})",
            limits=((1, BAD),),
        ),
        on_a_fallback(),
        number("Predictions", PER_SECOND, "Of all boards.", rate(of_node("edged_predictions_total"))),
    ]


def _boards() -> Panel:
    restarts = of_node("edged_worker_restarts_total")
    lost = share(
        rate(of_node("edged_frames_dropped_total", LOST), "node"), rate(of_node("edged_frames_total"), "node")
    )
    return by_label(
        "Which board is it?",
        "A line a board; its name leads to its pipeline.",
        "node",
        PIPELINE,
        Column("answers", f"min by (node) ({UP})", units.BoolYesNo),
        Column("cameras", f"sum by (node) ({of_node('edged_camera_up')})"),
        Column("without frames", f"sum by (node) (1 - {of_node('edged_camera_up')})", limits=((1, BAD),)),
        Column("workers serving", f"sum by (node) ({of_node('edged_worker_serving')})"),
        Column("predictions", rate(of_node("edged_predictions_total"), "node"), PER_SECOND),
        Column("age p99", quantile(0.99, AGE, "node"), units.Seconds, OLD),
        Column("lost", lost, units.PercentUnit, ((0.05, WARN), (0.5, BAD))),
        Column("workers lost", f"sum by (node) ({restarts})", limits=((1, WARN),)),
        Column("power", rate(of_node("edged_energy_joules_total"), "node"), units.Watt),
        Column(
            "hottest",
            f"max by (node) ({of_node('edged_temperature_celsius')})",
            units.Celsius,
            HOT,
        ),
    )


def _alerts() -> Panel:
    return lines(
        "Which alerts fire?",
        units.Short,
        "Each has a runbook: deploy/prometheus/.",
        Series(f"sum by (node, alertname, severity) ({FIRING})", "{{node}} {{alertname}} ({{severity}})"),
        stacked=True,
        nothing="No alert fires",
    )


def _up() -> Panel:
    return states(
        "Which board answers?",
        "Whether Prometheus could scrape it.",
        Series(UP),
        words={0: ("does not answer", BAD), 1: ("answers", GOOD)},
        width=6,
    )


def _versions() -> Panel:
    return bars(
        "Which edged runs on how many?",
        units.Short,
        "Boards by version.",
        Series(f"count by (version) ({of_node('edged_build_info')})", "{{version}}"),
        width=6,
    )


def _compared() -> list[Panel]:
    return [
        lines(
            "How many predictions does each board publish?",
            PER_SECOND,
            "A board that does less than its like has a camera, a clock or a device that is ill.",
            Series(rate(of_node("edged_predictions_total"), "node")),
            width=8,
        ),
        lines(
            "How old are they (p99)?",
            units.Seconds,
            "From the end of the capture to the publication.",
            Series(quantile(0.99, AGE, "node")),
            limits=OLD,
            width=8,
        ),
        lines(
            "How many watts does each take?",
            units.Watt,
            "All rails of the board; the dashboard Energy says which.",
            Series(rate(of_node("edged_energy_joules_total"), "node")),
            width=8,
            nothing=NO_SENSOR,
        ),
    ]
