"""Quantize a network, and leave layers in floats where it loses more accuracy than is allowed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import onnx

from edged.compress.judge import Judge
from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import OnnxFile
from edged.model.graph import Pair
from edged.model.onnx_reader import graph_of
from edged.model.passes import simplify
from edged.quantization.calibration import Calibration, Quantizer
from edged.quantization.noise import LayerNoise, layer_noise, worst

COMPARED = 4  # pictures on which layers are compared: the reference is slow
LAYERS = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
MOST_IN_FLOATS = 16  # layers; a network that needs more is not worth it


@dataclass(frozen=True, eq=False)
class Quantized:
    """A quantized file, its accuracy, the noise of its layers, and the outputs of those left in floats."""

    content: bytes
    accuracy: float
    layers: tuple[LayerNoise, ...]
    in_floats: tuple[str, ...] = ()


def quantize(
    file: OnnxFile,
    size: Pair,
    calibration: Calibration,
    judge: Judge,
    max_loss: float,
    show: Callable[[str], None],
) -> Quantized:
    """Return the first file that loses at most `max_loss`: with 0, 1, 2, 4 … layers in floats.

    The first layers, the first ones and the last one, or the noisiest ones stay in floats: of these the file that
    loses least. If too much is lost with all of them, return the best one. `max_loss`: a share of the judged
    pictures. Raises ModelError.
    """
    quantizer = Quantizer(file, calibration)
    trial = _Trial(quantizer, size, calibration, judge)
    try:
        best = trial.run(())
        if not any(each.is_quantized for each in best.layers):
            raise ModelError(f"{file.path}: has no layers to quantize: expected Conv, Gemm or MatMul")
        graph = quantizer.float_file.model.graph
        noisiest = [each.layer for each in worst(best.layers)]
        for count in _counts(len(noisiest)):
            lost = judge.accuracy - best.accuracy
            if lost <= max_loss:
                break
            show(f"{100 * lost:.2f} points are lost: {count} of {len(noisiest)} layers stay in floats")
            first = trial.run(nodes_before(graph, count))
            ends = trial.run(nodes_at_ends(graph, count - 1))
            scattered = trial.run(nodes_of(graph, noisiest[:count]))
            best = max(best, first, ends, scattered, key=lambda each: each.accuracy)
    finally:
        quantizer.close()
    return best


def _counts(layers: int) -> Iterator[int]:
    """Yield 1, 2, 4 … up to all layers."""
    count = 1
    while count <= min(layers, MOST_IN_FLOATS):
        yield count
        count *= 2


@dataclass(frozen=True, eq=False)
class _Trial:
    """Quantizes a network, and measures it."""

    quantizer: Quantizer
    size: Pair
    calibration: Calibration
    judge: Judge

    def run(self, nodes: Sequence[str]) -> Quantized:
        """Leave these nodes in floats, by their names. Raises ModelError."""
        floats = self.quantizer.float_file
        file = self.quantizer.quantize(nodes)
        graph = graph_of(file, self.size)
        accuracy = self.judge.measure(file.sha256, lambda: simplify(graph)).accuracy
        x = reference.prepare(self.calibration.pictures[:COMPARED], self.calibration.wanted)
        layers = layer_noise(graph_of(floats, self.size), graph, x)
        left = set(nodes)
        in_floats = [
            node.output[0] for node in floats.model.graph.node if node.op_type in LAYERS and node.name in left
        ]
        return Quantized(file.path.read_bytes(), accuracy, layers, tuple(in_floats))


def nodes_of(graph: onnx.GraphProto, tensors: Iterable[str]) -> list[str]:
    """Return the names of the nodes that compute these tensors: of the layers, and of what follows up to there."""
    writers = {output: node for node in graph.node for output in node.output}
    names = []
    for tensor in tensors:
        node = writers.get(tensor)
        while node is not None:
            names.append(node.name)
            is_layer = node.op_type in LAYERS
            node = None if is_layer else next((writers[name] for name in node.input if name in writers), None)
    return names


def nodes_before(graph: onnx.GraphProto, layers: int) -> list[str]:
    """Return the names of the first `layers` layers, and of all other nodes before the next one.

    Their sums stay in floats as well, which is where most noise comes in.
    """
    places = _layer_places(graph)
    end = places[layers] if layers < len(places) else len(graph.node)
    return [node.name for node in graph.node[:end]]


def nodes_at_ends(graph: onnx.GraphProto, first: int) -> list[str]:
    """Return the names of `nodes_before` the layer after the first ones, and of all nodes after the last but one.

    These are the last layer and what it reads, such as a sum and a pooling: their noise goes into the scores.
    """
    before = nodes_before(graph, first) if first else []
    *others, _ = [-1, *_layer_places(graph)]
    after = [node.name for node in graph.node[others[-1] + 1 :]]
    return list(dict.fromkeys([*before, *after]))


def _layer_places(graph: onnx.GraphProto) -> list[int]:
    return [place for place, node in enumerate(graph.node) if node.op_type in LAYERS]
