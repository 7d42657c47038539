"""Which worker serves, how it does, and whether it is lost again and again."""

from grafana_foundation_sdk.models import units

from tools.dashboards.panels import BAD, GOOD, PER_SECOND, WARN, Panel, Series, lines, number, states
from tools.dashboards.promql import known, of_node, quantile, rate

_MODEL = of_node("edged_model_info")


def workers() -> list[Panel]:
    return [
        states(
            "Which worker serves?",
            "Idle: it works, but another group serves. Down: it takes no jobs.",
            Series(
                of_node("edged_worker_serving") + " + on (node, worker) group_left ()\n" + _up(),
                "{{node}} {{worker}}",
            ),
            words={0: ("down", BAD), 1: ("idle", "blue"), 2: ("serves", GOOD)},
            width=8,
        ),
        states(
            "Did it fall back?",
            "To another group than the first in the config's list.",
            Series(of_node("edged_fallback")),
            words={0: ("first choice", GOOD), 1: ("fallback", WARN)},
            width=8,
        ),
        states(
            "Which model answers?",
            "The config's, or a version that was taught; by the first of its hash's digits, as in edged teach.",
            Series(
                f'label_replace({_MODEL}, "hash", "$1", "sha256", "(.{{12}}).*")', "{{node}} {{model}} {{hash}}"
            ),
            words={1: ("answers", GOOD)},
            width=8,
        ),
        lines(
            "Which worker answers how many jobs?",
            PER_SECOND,
            "A job carries one frame, or up to batch.",
            Series(rate(of_node("edged_jobs_total"), "node", "worker"), "{{node}} {{worker}}"),
            width=8,
        ),
        lines(
            "How long does a job take at a worker (p99)?",
            units.Seconds,
            "From handing it over to its answer, waiting in its hands included.",
            Series(quantile(0.99, of_node("edged_job_seconds_bucket"), "node", "worker"), "{{node}} {{worker}}"),
            width=8,
        ),
        lines(
            "Are workers restarting?",
            units.Short,
            "Losses since edged started, by reason; docs/reference/metrics.md explains each.",
            Series(
                known(of_node("edged_worker_restarts_total"), "node", "worker", "reason"),
                "{{node}} {{worker}}: {{reason}}",
            ),
            nothing="No worker was lost",
            width=8,
        ),
    ]


def on_a_fallback() -> Panel:
    """Build the panel that counts the chosen boards on a fallback."""
    return number(
        "On a fallback",
        units.Short,
        "Boards whose first group of workers does not serve.",
        f"sum({of_node('edged_fallback')})",
        limits=((1, WARN),),
    )


def _up() -> str:
    return f"max by (node, worker) ({of_node('edged_worker_up')})"
