"""How much each layer of a detector, quantized alone, changes what its last layers write.

Sides of boxes, objectness and classes come from last layers of their own, in numbers of different sizes: the noise
of each is a share of its own signal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import onnx
from numpy.typing import NDArray

from edged.evaluation.onnxruntime_scores import QUIET
from edged.model.cost import operator_macs
from edged.model.graph import Conv, Dense, Graph, Pair
from edged.model.onnx_reader import graph_of
from edged.quantization.calibration import Inputs, Quantizer
from edged.quantization.file import LAYERS, last_layers
from edged.quantization.ranges import with_outputs

PICTURES = 4  # on which layers are compared: hardly any order changes with more

Tensors = Sequence[NDArray[np.float32]]


@dataclass(frozen=True)
class LayerEffect:
    """A layer by the name of its node, its output, its multiplications, and the noise that it alone makes.

    noise: sum over the last layers of the share of noise in the signal, as energies.
    """

    node: str
    output: str
    macs: int
    noise: float

    @property
    def gain(self) -> float:
        """Return the noise that goes for each multiplication in floats."""
        return self.noise / self.macs


def layer_effects(quantizer: Quantizer, size: Pair) -> Iterator[LayerEffect]:
    """Yield the effect of each layer, in the order of the file. Raises ModelError."""
    graph = quantizer.float_file.model.graph
    nodes = [node for node in graph.node if node.op_type in LAYERS]
    macs = _macs(graph_of(quantizer.float_file, size))
    ends = _last_tensors(graph)
    exact = _computed(quantizer, [node.name for node in nodes], ends)
    for node in nodes:
        found = _computed(quantizer, [other.name for other in nodes if other is not node], ends)
        yield LayerEffect(node.name, node.output[0], macs.get(node.output[0], 1), _noise(exact, found))


def _macs(graph: Graph) -> Mapping[str, int]:
    """Return the multiplications of layers by the tensors that they write."""
    layers = [operator for operator in graph.operators if isinstance(operator, Conv | Dense)]
    return {layer.output: operator_macs(graph, layer) for layer in layers}


def _last_tensors(graph: onnx.GraphProto) -> list[str]:
    """Return what the last layers write."""
    last = set(last_layers(graph)[0])
    return [node.output[0] for node in graph.node if node.name in last]


def _computed(quantizer: Quantizer, in_floats: Sequence[str], tensors: Sequence[str]) -> Tensors:
    """Return these tensors of the first pictures, [pictures, values] each, by onnxruntime."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.log_severity_level = QUIET
    model = with_outputs(quantizer.detector(in_floats), tensors)
    session = InferenceSession(model.SerializeToString(), options)
    inputs = islice(Inputs(model, quantizer.calibration), PICTURES)
    runs = [session.run(list(tensors), one) for one in inputs]
    return [np.stack([np.ravel(run[index]) for run in runs]) for index in range(len(tensors))]


def _noise(exact: Tensors, found: Tensors) -> float:
    """Return the sum over tensors, [pictures, values] each, of the energy of the noise by that of the signal."""
    pairs = zip(exact, found, strict=True)
    return float(sum(np.square(b - a, dtype=np.float64).sum() / max(_energy(a), 1e-30) for a, b in pairs))


def _energy(values: NDArray[np.float32]) -> float:
    """Return the energy around the mean."""
    return float(np.square(values - values.mean(), dtype=np.float64).sum())
