"""How much noise quantization adds to each layer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edged.drawing.chart import COLORS, Chart, LinearAxis
from edged.model import reference
from edged.model.graph import Conv, Dense, Dequantize, Graph, Operator, Quantize, QuantizedConv, QuantizedDense

LAYERS = (Conv, Dense, QuantizedConv, QuantizedDense)
LARGEST = 200.0  # decibels that are shown for a layer without noise

Tensors = Mapping[str, NDArray[np.float32] | NDArray[np.float64]]

TOP = 60.0  # decibels: less noise than that of 8 bits is of no interest


@dataclass(frozen=True)
class LayerNoise:
    """A layer, by the tensor that it writes in floats, whether it is computed with whole numbers, and its noise.

    That is the signal-to-noise ratio in decibels of its output as other layers read it: with the noise of all
    layers before it, and the layer's own, with exact inputs.
    """

    layer: str
    is_quantized: bool
    decibels: float
    own_decibels: float


def layer_noise(floats: Graph, quantized: Graph, x: NDArray[np.float32]) -> tuple[LayerNoise, ...]:
    """Compare both graphs, read from their files without simplification, layer by layer for the inputs `x`."""
    layers = _layers(floats, quantized)
    for one in x:
        exact, found = (reference.run_all(graph, one[np.newaxis]) for graph in (floats, quantized))
        alone = _with_exact_inputs(quantized, exact, found)
        for layer in layers:
            layer.add(exact, found, alone)
    return tuple(layer.noise() for layer in layers)


@dataclass(eq=False)
class _Layer:
    """A layer of a quantized graph, and its signal and noise so far.

    name: its output in the graph of floats; exact: there, the first tensor after it that both graphs have.
    readers: the operators that make of its output what other layers read.
    """

    name: str
    operator: Operator
    exact: str
    readers: tuple[Operator, ...]
    signal: float = field(default=0.0, init=False)
    all_noise: float = field(default=0.0, init=False)
    own_noise: float = field(default=0.0, init=False)

    def add(self, exact: Tensors, found: Tensors, inputs: Tensors) -> None:
        """Add those of one picture. found: tensors with all noise; inputs: with that of no other layer."""
        expected, read = exact[self.exact], found[(self.operator, *self.readers)[-1].output]
        alone = reference.compute(self.operator, *(inputs[name] for name in self.operator.inputs))
        for reader in self.readers:
            alone = reference.compute(reader, alone)
        self.signal += _energy(expected)
        self.all_noise += _energy(expected.reshape(-1) - read.reshape(-1))
        self.own_noise += _energy(expected.reshape(-1) - alone.reshape(-1))

    def noise(self) -> LayerNoise:
        is_quantized = isinstance(self.operator, QuantizedConv | QuantizedDense)
        ratios = (max(self.signal, 1e-30) / max(noise, 1e-30) for noise in (self.all_noise, self.own_noise))
        decibels = [min(LARGEST, float(10 * np.log10(ratio))) for ratio in ratios]
        return LayerNoise(self.name, is_quantized, *decibels)


def _layers(floats: Graph, quantized: Graph) -> list[_Layer]:
    """Return the layers whose output has a name in both graphs: directly, or as others read it."""
    readers = {each.inputs[0]: each for each in quantized.operators if isinstance(each, Quantize | Dequantize)}
    layers = []
    for operator in quantized.operators:
        if isinstance(operator, LAYERS):
            chain = tuple(_chain(readers, operator.output))
            names = [operator.output, *(reader.output for reader in chain)]
            exact = next((name for name in names if name in floats.shapes), None)
            layers += [_Layer(_layer_before(floats, exact), operator, exact, chain)] if exact else []
    return layers


def _layer_before(floats: Graph, tensor: str) -> str:
    """Return the output of the layer from which a tensor comes; an activation may lie between."""
    writers = {operator.output: operator for operator in floats.operators}
    found = tensor
    while found in writers and not isinstance(writers[found], LAYERS):
        found = writers[found].inputs[0]
    return found if found in writers else tensor


def _chain(readers: Mapping[str, Operator], tensor: str) -> Iterator[Operator]:
    """Yield what quantizes a tensor and converts it back, if anything does."""
    while tensor in readers:
        yield readers[tensor]
        tensor = readers[tensor].output


def _with_exact_inputs(quantized: Graph, exact: Tensors, found: Tensors) -> Tensors:
    """Return what the layers read, computed from exact outputs of the layers before."""
    tensors = {**found, **{name: values for name, values in exact.items() if name in found}}
    for operator in quantized.operators:
        if not isinstance(operator, LAYERS) and operator.output not in exact:
            inputs = (tensors[name] for name in operator.inputs)
            tensors[operator.output] = reference.compute(operator, *inputs)
    return tensors


def worst(layers: Sequence[LayerNoise]) -> list[LayerNoise]:
    """Return the quantized layers, those that add most noise first."""
    return sorted((each for each in layers if each.is_quantized), key=lambda each: each.own_decibels)


def _energy(values: NDArray[np.float32] | NDArray[np.float64]) -> float:
    return float(np.square(values, dtype=np.float64).sum())


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
        points = [(number, min(value, TOP)) for number, value in enumerate(values, 1)]
        chart.line(points, color)
        for layer, point, value in zip(layers, points, values, strict=True):
            kind = "whole numbers" if layer.is_quantized else "floats"
            chart.dot(point, color, f"{layer.layer} ({kind}): {value:.1f} dB")
    chart.legend(dict(zip(lines, COLORS, strict=False)))
    return chart.svg()
