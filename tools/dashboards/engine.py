"""The device: what a forward pass costs, batch by batch and, during a profile, layer by layer."""

from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard

from tools.dashboards.frame import CAMERA, NODE, Row, dashboard
from tools.dashboards.panels import BAD, PER_SECOND, WARN, Panel, Series, bars, lines
from tools.dashboards.promql import mean, of_camera, of_node, quantile, rate, share, total

NOBODY = "No layers were timed; to time them: edged profile --attach CONFIG --count 1000"
ON_DEVICE = 'stage=~"upload|forward|download"'


def build() -> Dashboard:
    return dashboard(
        "engine",
        "edged / Engine (layers)",
        "Upload, forward pass and download; what batches gain; each layer, while it is profiled.",
        [NODE, CAMERA],
        [
            Row("Where do the milliseconds on the device go?", _device()),
            Row("What do batches gain?", _batches()),
            Row("Which layer takes them (while edged profile --attach runs)?", _layers()),
        ],
    )


def _device() -> list[Panel]:
    stages = of_camera("edged_stage_seconds", ON_DEVICE)
    buckets = of_camera("edged_stage_seconds_bucket", ON_DEVICE)
    busy = of_node("edged_job_device_seconds_total")
    return [
        lines(
            "How long do upload, forward pass and download take?",
            units.Seconds,
            "On average, one upon the other.",
            Series(mean(stages, "stage"), "{{stage}}"),
            stacked=True,
            width=8,
        ),
        lines(
            "How long at worst (p99)?",
            units.Seconds,
            "Far above the average: another program uses the device, or it is throttled.",
            Series(quantile(0.99, buckets, "stage"), "{{stage}}"),
            width=8,
        ),
        lines(
            "How busy is each worker's device?",
            units.PercentUnit,
            "Near 1 it is fully used. Above 1 the next upload overlaps a forward pass.",
            Series(rate(busy, "node", "worker"), "{{node}} {{worker}}"),
            limits=((0.9, WARN), (1.5, BAD)),
            width=8,
        ),
    ]


def _batches() -> list[Panel]:
    seconds, jobs = of_node("edged_job_device_seconds_total"), of_node("edged_jobs_total")
    name = "{{node}} {{worker}}: {{frames}} a job"
    by = ("node", "worker", "frames")
    return [
        lines(
            "How many frames does a job carry?",
            PER_SECOND,
            "Jobs a second, by their frames; workers[].batch is the most.",
            Series(rate(jobs, *by), name),
            width=8,
        ),
        lines(
            "How much of the device does a job take?",
            units.Seconds,
            "Divided by its frames it says what a batch gains.",
            Series(share(rate(seconds, *by), rate(jobs, *by)), name),
            width=8,
        ),
        lines(
            "How many frames wait between two parts of the network?",
            units.Short,
            "Where segments of the config cut it: many, where the second part is the slower one.",
            Series(of_node("edged_frames_between_segments")),
            width=8,
        ),
    ]


def _layers() -> list[Panel]:
    """Build panels of the layers by their last measurement: the series last a few seconds, too few for a rate."""
    by, name = ("node", "layer", "variant"), "{{node}} {{layer}} ({{variant}})"
    seconds, count = (of_node(f"edged_layer_seconds_{each}") for each in ("sum", "count"))
    last_seconds, last_count = (f"last_over_time({each}[$__range])" for each in (seconds, count))
    variants = f"{total('variant')} ({last_seconds})"
    return [
        bars(
            "Which layers take longest?",
            units.Seconds,
            "On average, the first 25, when they were timed last in the time shown.",
            Series(f"topk(25, {share(f'{total(*by)} ({last_seconds})', f'{total(*by)} ({last_count})')})", name),
            nothing=NOBODY,
        ),
        lines(
            "How does the time of each layer change?",
            units.Seconds,
            "Time on the device of each layer, on average since the timing began.",
            Series(share(f"{total(*by)} ({seconds})", f"{total(*by)} ({count})"), name),
            stacked=True,
            nothing=NOBODY,
        ),
        bars(
            "Which kernel variants take how much?",
            units.PercentUnit,
            "Share of the time of all layers.",
            Series(share(variants, f"scalar(sum({last_seconds}))"), "{{variant}}"),
            nothing=NOBODY,
        ),
        lines(
            "How many frames were timed?",
            units.Short,
            "It ends by itself, after --count or --duration; it must last for longer than a scrape_interval.",
            Series(f"max by (node) ({count})"),
            nothing=NOBODY,
        ),
    ]
