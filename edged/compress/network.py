"""The network to compress: its file, its weights, the same network with others; write it compressed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import onnx

from edged import config
from edged.compress.codebook import Codebook
from edged.compress.coded_file import borders_of, coded
from edged.compress.judge import Judge, Measured
from edged.compress.report import CompressionStep
from edged.compress.weights import Values, Weights, sha256_of, weights_of, with_weights
from edged.model.from_onnx.file import OnnxFile
from edged.model.graph import Graph, Pair
from edged.model.model_file import SUFFIX, compress
from edged.model.onnx_reader import graph_of
from edged.model.package import load_model
from edged.model.passes import simplify
from edged.system.files import write_result


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


def write_network(model: onnx.ModelProto, path: Path) -> tuple[int, int]:
    """Write `path` and, compressed, `path`.zst; return their sizes in bytes. Raises ConfigError."""
    content = model.SerializeToString()
    packed = compress(content, borders_of(model, content))
    write_result(path, content)
    write_result(compressed_path(path), packed)
    return len(content), len(packed)


def compressed_path(path: Path) -> Path:
    """Return the name of the compressed file beside `path`."""
    return path.with_name(path.name + SUFFIX)


def written(
    network: Network,
    pruned: onnx.ModelProto,
    shared: onnx.ModelProto,
    codebooks: Mapping[str, Codebook],
    judge: Judge,
    path: Path,
    settings: config.ModelConfig,
) -> list[CompressionStep]:
    """Write the network `shared` with its `codebooks`, and return all steps from the original, `network`.

    The accuracy of the result is that of the compressed file, read as `settings` reads the original.
    """
    small = coded(shared, codebooks)
    sizes = write_network(small, path)
    result = load_model(settings.model_copy(update={"path": compressed_path(path), "name": None}))
    reached = judge.measure(result.sha256, lambda: result.graph)
    original = network.file.nbytes
    pruned_bytes = len(compress(pruned.SerializeToString()))
    return [
        CompressionStep("float", "ONNX", original, judge.accuracy),
        CompressionStep("pruned", "ONNX, zst", pruned_bytes, _accuracy(network, pruned, judge)),
        CompressionStep("shared", "ONNX", sizes[0], _accuracy(network, small, judge)),
        CompressionStep("coded", "ONNX, zst", sizes[1], reached.accuracy),
    ]


def _accuracy(network: Network, model: onnx.ModelProto, judge: Judge) -> float:
    digest = sha256(model.SerializeToString()).hexdigest()
    return judge.measure(digest, lambda: network.graph_of(model)).accuracy
