"""ONNX files: damaged bytes, messages that make no sense, data that lies elsewhere. What is read is compared."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx

from edged import config
from edged.errors import ModelError
from edged.model import reference
from edged.model.cost import macs
from edged.model.graph import Graph, Quantize, QuantizedConv, QuantizedDense
from edged.model.package import load_model
from trials.fuzz.damage import damaged
from trials.fuzz.onnx_bases import BASES
from trials.fuzz.onnx_elsewhere import folder_with_secrets, move_elsewhere
from trials.fuzz.onnx_mutations import MUTATIONS
from trials.fuzz.oracle import answers
from trials.fuzz.trial import Case

CHEAP = 1 << 22  # values of a tensor and multiply-adds, up to which a network is run
WRONG = 1e-3  # of the range of the answers


@contextmanager
def prepared() -> Iterator[Case]:
    """The case, and a folder for its files."""
    with tempfile.TemporaryDirectory(prefix="edged-fuzz-") as folder, cache_in(Path(folder) / "cache"):
        yield OnnxCase(folder_with_secrets(Path(folder)), Path(folder) / "cache")


class OnnxCase:
    """Files `model.onnx` in `folder`."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.path = folder / "model.onnx"
        self.cache = cache

    def __call__(self, chance: random.Random) -> str:
        self.path.write_bytes(_content(chance))
        shutil.rmtree(self.cache, ignore_errors=True)
        try:
            model = load_model(config.ModelConfig(path=self.path, size=10 if chance.random() < 0.02 else None))
        except ModelError as error:
            return self._refused(str(error))
        return _compared(self.path, model.graph, np.random.default_rng(chance.randrange(100)))

    def _refused(self, reason: str) -> str:
        assert str(self.path) in reason, reason
        assert len(reason) < 20_000
        return "refused"


def _content(chance: random.Random) -> bytes:
    model = onnx.ModelProto()
    model.CopyFrom(chance.choice(BASES))
    match chance.randrange(20):
        case 0 | 1:
            return damaged(model.SerializeToString(), chance)
        case 2 | 3:
            move_elsewhere(model, chance)
        case _:
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                if model.graph.node and model.graph.initializer and model.opset_import:
                    chance.choice(MUTATIONS)(model, chance)
    return bytes(model.SerializeToString())


def _compared(path: Path, graph: Graph, random: np.random.Generator) -> str:
    if max(np.prod(shape, dtype=np.float64) for shape in graph.shapes.values()) > CHEAP or macs(graph) > CHEAP:
        return "read, too large to run"
    x = random.standard_normal((2, *graph.shapes[graph.input])).astype(np.float32)
    expected = answers(path, x, channels_last=_has_channels_last(path))
    with np.errstate(all="ignore"):
        got = reference.run(graph, x)
    if expected is None:
        return "read, not by onnxruntime"
    if not (np.isfinite(got).all() and np.isfinite(expected).all()):
        return "not finite"
    if any(isinstance(operator, Quantize | QuantizedConv | QuantizedDense) for operator in graph.operators):
        return "quantized"  # a single step may be the whole range
    error = np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-6)
    assert error < WRONG, f"wrong by {error:.2g}"
    return "right"


def _has_channels_last(path: Path) -> bool:
    model = onnx.load(path, load_external_data=False)
    return any(node.op_type == "Transpose" and node.input[0] == "input" for node in model.graph.node)


@contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """What is kept for the next start goes there."""
    import pytest

    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("CACHE_DIRECTORY", raising=False)
        environment.setenv("XDG_CACHE_HOME", str(folder))
        yield
