"""Draw the layers of a network under the roofline of a device.

After Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for Multicore
Architectures" (2009).
"""

import math

from edged.cli.profile.report import Report
from edged.drawing.chart import COLORS, Chart, LogAxis, Point
from edged.engine.peaks import Peaks
from edged.engine.profile import KernelProfile, by_layer
from edged.errors import ConfigError

ABOVE = "Above a roof: the data came from a cache, or the kernel saves multiplications (Winograd)."
NAMED = 8  # layers with a label: those that take longest; the others have tooltips only


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
        chart.dot(_point(layer), colors.get(layer.cost.kernel, COLORS[-1]), _tooltip(report, layer, peaks), radius)
    for layer in layers[:NAMED]:
        chart.label(_point(layer), layer.cost.operator)
    chart.legend(colors, ABOVE)
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


def _tooltip(report: Report, layer: KernelProfile, peaks: Peaks) -> str:
    return (
        f"{layer.cost.operator}\n{layer.cost.kernel}: {layer.seconds * 1e6:.1f} µs, "
        f"{report.share_of_frame(layer):.1%} of the frame\n{layer.flops_per_s / 1e9:.1f} GFLOP/s, "
        f"{layer.bytes_per_s / 1e9:.1f} GB/s, {layer.share_of_bound(peaks):.0%} of the roofline"
    )
