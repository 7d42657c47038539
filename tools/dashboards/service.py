"""The journal, the notifications and the addresses of a board: panels of more than one dashboard."""

from grafana_foundation_sdk.models import units

from tools.dashboards.panels import BAD, GOOD, PER_SECOND, WARN, Panel, Series, lines, states
from tools.dashboards.promql import known, of_node, quantile, rate, share


def journal() -> list[Panel]:
    name = "{{node}}"
    return [
        lines(
            "How full is the journal?",
            units.PercentUnit,
            "Of journal.max_megabytes; near 1 is as it should be, since the oldest go first.",
            Series(share(of_node("edged_journal_bytes"), of_node("edged_journal_limit_bytes")), name),
            width=6,
        ),
        lines(
            "How much room has its disk?",
            units.BytesIEC,
            "Free for edged. A disk that is full costs the journal, never a prediction.",
            Series(of_node("edged_journal_disk_free_bytes"), name),
            width=6,
        ),
        lines(
            "How long does a commit take?",
            units.Seconds,
            "p99; predictions wait for it for journal.max_wait_s at most.",
            Series(quantile(0.99, of_node("edged_journal_seconds_bucket"), "node"), name),
            limits=((0.1, BAD),),
            width=6,
        ),
        lines(
            "How many predictions are missing in the journal?",
            units.Short,
            "Predictions published since edged started, but not written to the journal in time, by reason.",
            Series(known(of_node("edged_journal_errors_total"), "node", "reason"), "{{node}} {{reason}}"),
            nothing="Everything was written to the journal in time",
            width=6,
        ),
    ]


def notifications() -> list[Panel]:
    return [
        lines(
            "What became of the notifications?",
            units.Short,
            "Of `notify`, since edged started; refused and dropped ones reach nobody, and the log says why.",
            Series(known(of_node("edged_notifications_total"), "node", "fate"), "{{node}} {{fate}}"),
            nothing="No notification was due, or the config has no `notify`",
        ),
        lines(
            "How often does an attempt to send one fail?",
            PER_SECOND,
            "It is made again later; meanwhile up to 100 notifications wait, then the oldest are dropped.",
            Series(rate(of_node("edged_notification_failures_total"), "node"), "{{node}}"),
        ),
    ]


def refused() -> list[Panel]:
    return [
        lines(
            "Who was refused or cut off?",
            units.Short,
            "Connections since edged started, by address and reason; the log names each peer.",
            Series(
                known(of_node("edged_peers_rejected_total"), "node", "endpoint", "reason"),
                "{{node}} {{endpoint}}: {{reason}}",
            ),
            nothing="No connection was refused or cut off",
        ),
        states(
            "Which address accepts any host?",
            "Other hosts reach it without a key: insecure: true.",
            Series(of_node("edged_insecure"), "{{node}} {{endpoint}}"),
            words={0: ("closed", GOOD), 1: ("open", WARN)},
        ),
    ]
