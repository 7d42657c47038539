"""A profile in a file: the layers under the roofline of the device as SVG, or a trace.

The roofline is after Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures" (2009). The trace is in the JSON format that Perfetto and Chrome's viewer open, the "Trace
Event Format" of the Chromium project: complete events ("X"), times in microseconds.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

from edged.cli.profile.report import Report
from edged.drawing.chart import COLORS, Chart, LogAxis, Point
from edged.engine.peaks import Peaks
from edged.engine.profile import KernelProfile, Run, by_layer
from edged.errors import ConfigError

WHY_ABOVE = "Above a roof: the data came from a cache, or the kernel saves multiplications (Winograd)."
NAMED = 8  # layers with a label: those that take longest; the others have tooltips only
JOBS = 5  # jobs in the trace: enough to see what repeats
HOST, DEVICE = 1, 2  # process numbers in the trace
THREADS = {(HOST, 1): "job", (DEVICE, 1): "upload", (DEVICE, 2): "kernels", (DEVICE, 3): "download"}
Event = dict[str, Any]


def roofline(report: Report) -> str:
    """Return an SVG with a dot for each layer; its area is the layer's share of the frame.

    Layers without multiplications are left out. Raises ConfigError if the roofs are not known.
    """
    if (peaks := report.peaks) is None:
        raise ConfigError(f"--roofline: {report.roofs}")
    layers = sorted(
        (layer for layer in by_layer(report.profile.kernels) if layer.cost.macs),
        key=lambda layer: -layer.seconds,
    )
    x, y = _axes(layers, peaks)
    chart = Chart(report.title, f"{report.roofs}; a dot's area is the layer's share of the frame", x, y)
    _draw_roofs(chart, x, y, peaks)
    colors = dict(zip(dict.fromkeys(layer.cost.kernel for layer in layers), COLORS, strict=False))
    for layer in layers:
        radius = 2.5 + 60 * math.sqrt(report.share_of_frame(layer) / math.pi) / 2
        chart.dot(_point(layer), colors.get(layer.cost.kernel, COLORS[-1]), _tooltip(report, layer), radius)
    for layer in layers[:NAMED]:
        chart.label(_point(layer), layer.cost.operator)
    chart.legend(colors, WHY_ABOVE)
    return chart.svg()


def _point(layer: KernelProfile) -> Point:
    return 2 * layer.cost.macs / layer.cost.nbytes, layer.flops_per_s / 1e9


def _axes(layers: list[KernelProfile], peaks: Peaks) -> tuple[LogAxis, LogAxis]:
    """Return axes that hold the dots and the ridge, where the roofs meet."""
    points = list(map(_point, layers))
    ridge = peaks.flops_per_s / peaks.bytes_per_s
    intensities = [ridge, *(x for x, _ in points)]
    speeds = [peaks.flops_per_s / 1e9, *(y for _, y in points)]
    return (
        LogAxis(
            "operations a byte of inputs, outputs and weights (FLOP/B)", min(intensities) / 2, max(intensities) * 2
        ),
        LogAxis("GFLOP/s", min(speeds) / 2, max(speeds) * 2),
    )


def _draw_roofs(chart: Chart, x: LogAxis, y: LogAxis, peaks: Peaks) -> None:
    top, slope = peaks.flops_per_s / 1e9, peaks.bytes_per_s / 1e9
    start = max(x.low, y.low / slope)
    chart.line([(start, start * slope), (top / slope, top), (x.high, top)])


def _tooltip(report: Report, layer: KernelProfile) -> str:
    return (
        f"{layer.cost.operator}\n{layer.cost.kernel}: {layer.seconds * 1e6:.1f} µs, "
        f"{report.share_of_frame(layer):.1%} of the frame\n{layer.flops_per_s / 1e9:.1f} GFLOP/s, "
        f"{layer.bytes_per_s / 1e9:.1f} GB/s; roofline: {report.of_roofline(layer).strip() or 'unknown'}"
    )


def trace(report: Report) -> str:
    """Build a trace of the first jobs, from the first one's submission on.

    Host and device have separate clocks: a job's download is assumed to end when the host has its scores.
    """
    events = [*_names(report)]
    for index, run in enumerate(report.profile.runs[:JOBS]):
        events += _job(report, run, index)
    facts = {"what": report.title, "roofs": report.roofs, "convolutions": report.subject.conv}
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms", "otherData": facts})


def _names(report: Report) -> Iterator[Event]:
    for process, name in ((HOST, "host"), (DEVICE, report.subject.device)):
        yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}
    for (process, thread), name in THREADS.items():
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}


def _job(report: Report, run: Run, index: int) -> Iterator[Event]:
    result, origin = run.result, report.profile.runs[0].begun_s
    begun, submitted, done = run.begun_s - origin, run.submitted_s - origin, run.done_s - origin
    download = done - result.download_s
    first_kernel = download - result.forward_s
    yield _event("submit", (HOST, 1), begun, submitted - begun, {"job": index})
    yield _event("wait", (HOST, 1), submitted, done - submitted, {"job": index})
    yield _event("upload", (DEVICE, 1), first_kernel - result.upload_s, result.upload_s, {"job": index})
    for kernel, figures in zip(result.kernels, _figures(report), strict=True):
        start = first_kernel + kernel.started_s
        yield _event(kernel.operator, (DEVICE, 2), start, kernel.seconds, {"job": index} | figures)
    yield _event("download", (DEVICE, 3), download, result.download_s, {"job": index})


def _event(name: str, place: tuple[int, int], start_s: float, seconds: float, facts: Event) -> Event:
    process, thread = place
    times = {"ts": round(start_s * 1e6, 3), "dur": round(seconds * 1e6, 3)}
    return {"ph": "X", "name": name, "cat": THREADS[place], "pid": process, "tid": thread, **times, "args": facts}


def _figures(report: Report) -> list[Event]:
    """Return the median figures of each kernel over all runs."""
    return [
        {
            "kernel": kernel.cost.kernel,
            "MMAC": kernel.cost.macs / 1e6,
            "MB": kernel.cost.nbytes / 1e6,
            "median µs": round(kernel.seconds * 1e6, 1),
            "median GFLOP/s": round(kernel.flops_per_s / 1e9, 1),
            "median GB/s": round(kernel.bytes_per_s / 1e9, 1),
            "share of roofline": report.peaks and round(kernel.share_of_bound(report.peaks), 3),
        }
        for kernel in report.profile.kernels
    ]
