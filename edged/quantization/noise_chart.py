"""Draw the noise of each layer of a quantized network."""

from collections.abc import Sequence

from edged.drawing.chart import COLORS, Chart, LinearAxis
from edged.quantization.noise import LayerNoise

TOP = 60.0  # decibels: less noise than that of 8 bits is of no interest


def noise_chart(name: str, layers: Sequence[LayerNoise]) -> str:
    """Draw the signal-to-noise ratio of the layers, in the order of the network, as SVG; higher is better.

    One line has the noise of all layers before, the other the layer's own with exact inputs.
    """
    x = LinearAxis("layer", 1, max(len(layers), 2), least_step=1)
    low = min(0.0, *(min(each.decibels, each.own_decibels) for each in layers))
    y = LinearAxis("signal-to-noise ratio, dB", low, TOP)
    in_floats = sum(not each.is_quantized for each in layers)
    chart = Chart(f"Noise of {name}", f"{len(layers)} layers, {in_floats} of them in floats", x, y)
    lines = {
        "with the noise of all layers before": [each.decibels for each in layers],
        "the layer alone": [each.own_decibels for each in layers],
    }
    for values, color in zip(lines.values(), COLORS, strict=False):
        points = [(place, min(value, TOP)) for place, value in enumerate(values, 1)]
        chart.line(points, color)
        for layer, point, value in zip(layers, points, values, strict=True):
            kind = "whole numbers" if layer.is_quantized else "floats"
            chart.dot(point, color, f"{layer.layer} ({kind}): {value:.1f} dB")
    chart.legend(dict(zip(lines, COLORS, strict=False)))
    return chart.svg()
