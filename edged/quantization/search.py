"""Quantize a network, and leave layers in floats where it loses more accuracy than is allowed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import onnx

from edged.errors import ModelError
from edged.model import reference
from edged.model.cost import operator_macs
from edged.model.from_onnx.file import OnnxFile
from edged.model.graph import Conv, Dense, Graph, Pair, QuantizedConv, QuantizedDense
from edged.model.onnx_reader import graph_of
from edged.model.passes import simplify
from edged.quantization.calibration import Calibration, Quantizer
from edged.quantization.file import LAYERS, last_layers
from edged.quantization.noise import LayerNoise, layer_noise, worst
from edged.system.plain_text import counted

COMPARED = 4  # pictures on which layers are compared: the reference is slow
MOST_IN_FLOATS = 16  # layers; a network that needs more is not worth it


class Judging(Protocol):
    """What measures a classifier: the share of right answers."""

    accuracy: float  # of the original network

    def accuracy_of(self, weights_sha256: str, graph: Callable[[], Graph]) -> float:
        """Return that of a network with other weights."""


Choice = Callable[[int], list[str]]  # of a number of layers: the names of their nodes


@dataclass(frozen=True, eq=False)
class Quantized:
    """A quantized file, its accuracy, the noise of its layers, and the outputs of those left in floats.

    whole_share: of its multiplications, those of whole numbers.
    """

    content: bytes
    accuracy: float
    layers: tuple[LayerNoise, ...]
    in_floats: tuple[str, ...] = ()
    whole_share: float = 1.0


def share_of_whole_numbers(graph: Graph) -> float:
    """Return the share of a network's multiplications that are those of whole numbers."""
    layers = [each for each in graph.operators if isinstance(each, Conv | Dense | QuantizedConv | QuantizedDense)]
    macs = {each.name: operator_macs(graph, each) for each in layers}
    whole = sum(macs[each.name] for each in layers if isinstance(each, QuantizedConv | QuantizedDense))
    return whole / max(1, sum(macs.values()))


def quantize(
    file: OnnxFile,
    size: Pair,
    calibration: Calibration,
    judge: Judging,
    max_loss: float,
    show: Callable[[str], None],
) -> Quantized:
    """Return the file that loses at most `max_loss` with the fewest multiplications in floats, of those tried.

    The first layers, the first ones and the last one, or the noisiest ones stay in floats. If all files lose too
    much, return the most accurate one. `max_loss`: a share of 1, as what `judge` measures. Raises ModelError.
    """
    quantizer = Quantizer(file, calibration)
    try:
        trial = _Trial(quantizer, size, calibration, judge)
        whole = trial.run(())
        layers = trial.noise(whole)
        if not any(each.is_quantized for each in layers):
            raise ModelError(f"{file.path}: has no layers to quantize: expected Conv, Gemm or MatMul")
        search = _Search(trial, judge.accuracy - max_loss, [each.layer for each in worst(layers)], show)
        best = search.best(whole)
        layers = layers if best is whole else trial.noise(best)
        content, share = best.file.path.read_bytes(), share_of_whole_numbers(best.graph)
        return Quantized(content, best.accuracy, layers, best.in_floats, share)
    finally:
        quantizer.close()


@dataclass(frozen=True, eq=False)
class _Tried:
    """A quantized file, its graph and accuracy; of the layers in floats their outputs and multiplications."""

    file: OnnxFile
    graph: Graph
    accuracy: float
    in_floats: tuple[str, ...]
    float_macs: int


@dataclass(frozen=True, eq=False)
class _Trial:
    """Quantizes a network, and measures it."""

    quantizer: Quantizer
    size: Pair
    calibration: Calibration
    judge: Judging

    def run(self, nodes: Sequence[str]) -> _Tried:
        """Leave these nodes in floats, by their names. Raises ModelError."""
        file = self.quantizer.quantize(nodes)
        graph = graph_of(file, self.size)
        accuracy = self.judge.accuracy_of(file.sha256, lambda: simplify(graph))
        left = set(nodes)
        in_floats = [
            node.output[0]
            for node in self.quantizer.float_file.model.graph.node
            if node.op_type in LAYERS and node.name in left
        ]
        macs = sum(operator_macs(graph, each) for each in graph.operators if isinstance(each, Conv | Dense))
        return _Tried(file, graph, accuracy, tuple(in_floats), macs)

    def noise(self, tried: _Tried) -> tuple[LayerNoise, ...]:
        """Compare the layers with those of the network of floats, which is slow."""
        x = reference.prepare(self.calibration.pictures[:COMPARED], self.calibration.model_input)
        return layer_noise(graph_of(self.quantizer.float_file, self.size), tried.graph, x)


@dataclass(frozen=True, eq=False)
class _Search:
    """Searches layers that stay in floats, so that at least `accuracy` is kept. `noisiest`: their outputs."""

    trial: _Trial
    accuracy: float
    noisiest: Sequence[str]
    show: Callable[[str], None]

    def best(self, whole: _Tried) -> _Tried:
        """Try 1, 2, 4 … layers in floats, then fewer ones down to the last number that was not enough.

        whole: the network with no layer in floats.
        """
        if whole.accuracy >= self.accuracy:
            return whole
        tried, failed = [whole], 0
        for count in _counts(len(self.noisiest)):
            found = [(choice, self._run(choice, count)) for choice in self._choices()]
            passed = [(choice, each) for choice, each in found if each.accuracy >= self.accuracy]
            if passed:
                fewest = [self._fewest(choice, failed, count, each) for choice, each in passed]
                return min(fewest, key=lambda each: (each.float_macs, -each.accuracy))
            tried += [each for _, each in found]
            failed = count
        return max(tried, key=lambda each: each.accuracy)

    def _choices(self) -> list[Choice]:
        graph = self.trial.quantizer.float_file.model.graph
        return [
            lambda count: nodes_before(graph, count),
            lambda count: nodes_at_ends(graph, count - 1),
            lambda count: nodes_of(graph, self.noisiest[:count]),
        ]

    def _fewest(self, choice: Choice, failed: int, passed: int, found: _Tried) -> _Tried:
        """Bisect between a number of layers that lost too much and one, `found`, that did not."""
        while passed - failed > 1:
            middle = (failed + passed) // 2
            tried = self._run(choice, middle)
            if tried.accuracy >= self.accuracy:
                passed, found = middle, tried
            else:
                failed = middle
        return found

    def _run(self, choice: Choice, count: int) -> _Tried:
        self.show(f"{count} of {counted(len(self.noisiest), 'layer')} stay in floats")
        return self.trial.run(choice(count))


def _counts(layers: int) -> Iterator[int]:
    """Yield 1, 2, 4 … up to all layers."""
    count = 1
    while count <= min(layers, MOST_IN_FLOATS):
        yield count
        count *= 2


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
    indices = _layer_indices(graph)
    end = indices[layers] if layers < len(indices) else len(graph.node)
    return [node.name for node in graph.node[:end]]


def nodes_at_ends(graph: onnx.GraphProto, first: int) -> list[str]:
    """Return the names of `nodes_before` the layer after the first ones, and of all nodes after the last but one.

    These are the last layer and what it reads, such as a sum and a pooling: their noise goes into the scores. Of a
    network with several last layers the others stay in floats, too.
    """
    before = nodes_before(graph, first) if first else []
    *others, _ = [-1, *_layer_indices(graph)]
    after = [node.name for node in graph.node[others[-1] + 1 :]]
    return list(dict.fromkeys([*before, *after, *last_layers(graph)[0]]))


def _layer_indices(graph: onnx.GraphProto) -> list[int]:
    return [index for index, node in enumerate(graph.node) if node.op_type in LAYERS]
