"""Metrics of the hub itself: its journal, and who was turned away."""

from edged.metrics.declare import Declare


class HubMetrics:
    """What is on disk, and what listens."""

    def __init__(self, declare: Declare) -> None:
        self.journal_seconds = declare.histogram(
            "edged_journal_seconds",
            "Time until predictions are committed to the journal, before they are published; no stage holds it.",
        )
        self.journal_errors = declare.counter(
            "edged_journal_errors_total",
            "Predictions that were published before they were kept for subscribers that miss them, or without.",
            ["reason"],
        )
        self.journal_bytes = declare.gauge(
            "edged_journal_bytes", "What the files of the journal take on the disk."
        )
        self.journal_aside = declare.gauge(
            "edged_journal_set_aside_bytes",
            "What damaged journals take that were set aside; edged deletes none of them.",
        )
        self.journal_limit = declare.gauge(
            "edged_journal_limit_bytes", "What they may take: journal.max_megabytes."
        )
        self.journal_disk_free = declare.gauge(
            "edged_journal_disk_free_bytes", "What is free on the disk of the journal; NaN while nobody can say."
        )
        self.stream_unsent = declare.counter(
            "edged_stream_unsent_total",
            "Messages that were dropped because the thread that publishes was held up and its queue was full.",
            ["what"],
        )
        self.service_up = declare.gauge(
            "edged_service_up", "1 while this thread of the hub serves, 0 while it has failed.", ["service"]
        )
        self.service_failures = declare.counter(
            "edged_service_failures_total",
            "Failures of a thread of the hub, which is started again after each.",
            ["service"],
        )
        self.peers_rejected = declare.counter(
            "edged_peers_rejected_total",
            "Connections that were refused or cut off, by the key of the config that holds the address; "
            "link: cameras' and workers'.",
            ["endpoint", "reason"],
        )
        self.insecure = declare.gauge(
            "edged_insecure",
            "1 where other hosts reach this address without a key, else 0.",
            ["endpoint"],
        )
