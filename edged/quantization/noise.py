"""How much noise quantization adds to each layer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.model import reference
from edged.model.graph import Conv, Dense, Dequantize, Graph, Quantize, QuantizedConv, QuantizedDense

LAYERS = (Conv, Dense, QuantizedConv, QuantizedDense)
LARGEST = 200.0  # decibels that are shown for a layer without noise


@dataclass(frozen=True)
class LayerNoise:
    """A layer, whether it is computed with whole numbers, and its signal-to-noise ratio in decibels.

    Its noise is that of its output as other layers read it, with the noise of all layers before it.
    """

    layer: str
    is_quantized: bool
    decibels: float


def layer_noise(floats: Graph, quantized: Graph, x: NDArray[np.float32]) -> tuple[LayerNoise, ...]:
    """Compare both graphs, read from their files without simplification, layer by layer for the inputs `x`."""
    signal: dict[str, float] = {}
    noise: dict[str, float] = {}
    layers = [each for each in quantized.operators if isinstance(each, LAYERS) and each.output in floats.shapes]
    read_as = _names_of_readers(quantized)
    for one in x:
        exact, found = (reference.run_all(graph, one[np.newaxis]) for graph in (floats, quantized))
        for layer in layers:
            name = layer.output
            difference = exact[name].reshape(-1) - found[read_as[name]].reshape(-1)
            signal[name] = signal.get(name, 0.0) + float(np.square(exact[name], dtype=np.float64).sum())
            noise[name] = noise.get(name, 0.0) + float(np.square(difference, dtype=np.float64).sum())
    return tuple(
        LayerNoise(
            layer.name,
            isinstance(layer, QuantizedConv | QuantizedDense),
            _decibels(signal[layer.output], noise[layer.output]),
        )
        for layer in layers
    )


def _names_of_readers(graph: Graph) -> dict[str, str]:
    """Return under which name other layers read each tensor: of a quantized one, that of its values."""
    names = {tensor: tensor for tensor in graph.shapes}
    for operator in reversed(graph.operators):
        if isinstance(operator, Quantize | Dequantize):
            names[operator.inputs[0]] = names[operator.output]
    return names


def worst(layers: Sequence[LayerNoise], count: int) -> list[LayerNoise]:
    """Return the quantized layers with the most noise, the worst first."""
    return sorted((each for each in layers if each.is_quantized), key=lambda each: each.decibels)[:count]


def _decibels(signal: float, noise: float) -> float:
    return min(LARGEST, float(10 * np.log10(max(signal, 1e-30) / max(noise, 1e-30))))
