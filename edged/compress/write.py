"""Write a compressed network, and measure what was written."""

from collections.abc import Mapping
from pathlib import Path

import onnx

from edged import config
from edged.compress.codebook import Codebook
from edged.compress.coded_file import coded
from edged.compress.judge import Judge
from edged.compress.network import Network
from edged.compress.outcome import CompressionStep
from edged.compress.weights import Weights, with_weights
from edged.errors import ConfigError
from edged.model.compressed_file import SUFFIX, compress
from edged.model.package import load_model
from edged.system.atomic_file import FOR_ALL, replace_file


def write_network(model: onnx.ModelProto, path: Path) -> tuple[int, int]:
    """Write `path` and, compressed, `path`.zst; return their sizes in bytes. Raises ConfigError."""
    content = model.SerializeToString()
    packed = compress(content)
    for file, data in ((path, content), (compressed_path(path), packed)):
        try:
            with replace_file(file, FOR_ALL) as opened:
                opened.write(data)
        except OSError as error:
            raise ConfigError(f"{file}: cannot be written: {error.strerror}") from None
    return len(content), len(packed)


def compressed_path(path: Path) -> Path:
    """Return the name of the compressed file beside `path`."""
    return path.with_name(path.name + SUFFIX)


def written(
    network: Network,
    original: int,
    weights: Weights,
    codebooks: Mapping[str, Codebook],
    judge: Judge,
    path: Path,
    wanted: config.ModelConfig,
) -> list[CompressionStep]:
    """Write the network, and return all steps; `original`: bytes of its file, `weights`: after pruning.

    The accuracy of the result is that of the compressed file, read as `wanted` reads the original.
    """
    model = network.file.model
    pruned_bytes = len(compress(with_weights(model, weights).SerializeToString()))
    shared_bytes, coded_bytes = write_network(coded(model, codebooks), path)
    shared = {name: codebook.values for name, codebook in codebooks.items()}
    result = load_model(wanted.model_copy(update={"path": compressed_path(path), "name": None}))
    return [
        CompressionStep("float", "ONNX", original, judge.accuracy),
        CompressionStep("pruned", "ONNX, zst", pruned_bytes, network.measured(judge, weights).accuracy),
        CompressionStep("shared", "ONNX", shared_bytes, network.measured(judge, shared).accuracy),
        CompressionStep(
            "coded", "ONNX, zst", coded_bytes, judge.measure(result.sha256, lambda: result.graph).accuracy
        ),
    ]
