"""The network to compress: its file, its weights, and the same network with others."""

from dataclasses import dataclass, replace
from functools import cached_property

import onnx

from edged.compress.judge import Judge, Measured
from edged.compress.weights import Values, Weights, sha256_of, weights_of, with_weights
from edged.model.from_onnx.file import OnnxFile
from edged.model.graph import Graph, Pair
from edged.model.onnx_reader import graph_of
from edged.model.passes import simplify


@dataclass(frozen=True, eq=False)
class Network:
    """A file, and the input size (width, height) where the file leaves it open."""

    file: OnnxFile
    size: Pair | None

    @cached_property
    def weights(self) -> dict[str, Values]:
        """Return the weights to compress. Raises ModelError if there are none."""
        return weights_of(self.file.model, str(self.file.path))

    def graph(self, weights: Weights) -> Graph:
        """Return the network with these weights in place of its own."""
        return self.graph_of(with_weights(self.file.model, weights))

    def graph_of(self, model: onnx.ModelProto) -> Graph:
        """Return the network of `model`, read as if it were this file."""
        return simplify(graph_of(replace(self.file, model=model), self.size))

    def measured(self, judge: Judge, weights: Weights, *, probe: bool = False) -> Measured:
        """Measure the network with these weights (see `Judge.measure`)."""
        return judge.measure(sha256_of(weights), lambda: self.graph(weights), probe=probe)
