"""Write a compressed network, and measure what was written."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import onnx

from edged import config
from edged.compress.codebook import Codebook
from edged.compress.coded_file import borders_of, coded
from edged.compress.judge import Judge
from edged.compress.network import Network
from edged.compress.outcome import CompressionStep
from edged.model.model_file import SUFFIX, compress
from edged.model.package import load_model
from edged.system.files import write_result


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
    wanted: config.ModelConfig,
) -> list[CompressionStep]:
    """Write the network `shared` with its `codebooks`, and return all steps from the original, `network`.

    The accuracy of the result is that of the compressed file, read as `wanted` reads the original.
    """
    small = coded(shared, codebooks)
    sizes = write_network(small, path)
    result = load_model(wanted.model_copy(update={"path": compressed_path(path), "name": None}))
    reached = judge.measure(result.sha256, lambda: result.graph)
    original = network.file.path.stat().st_size
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
