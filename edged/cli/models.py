"""`edged models`: the size and the cost of several networks side by side."""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from edged.cli.model_options import size, validated
from edged.cli.options import add_example, add_json
from edged.config import ModelConfig
from edged.model.cost import macs, parameters, peak_bytes
from edged.model.package import BUNDLED, RANDOM, Model, is_file_name, load_model, model_path
from edged.system.plain_text import printable_lines
from edged.system.terminal import show

HEAD = ("model", "input", "params", "file", "weights", "tensors", "MACs", "outputs")
EXPLANATION = (
    "weights, tensors: bytes in memory on a CPU in fp32, of the tensors those that exist at the same time",
    "params: numbers that were trained; outputs: numbers that all layers write for one frame",
)


@dataclass(frozen=True)
class Footprint:
    """The size of a network: the bytes of its file, and the cost of one frame.

    file_bytes: None for a named network with random weights. weight_bytes: of weights and biases in memory.
    tensor_bytes: of the tensors of one frame, in float32, that must exist at the same time at most.
    activations: numbers that all operators write for one frame.
    """

    model: str
    width: int
    height: int
    parameters: int
    file_bytes: int | None
    weight_bytes: int
    tensor_bytes: int
    macs: int
    activations: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the models and --size."""
    which = "ONNX files and named models (default: all named models)"
    parser.add_argument("models", metavar="MODEL", nargs="*", help=which)
    help_text = "input size of the models that leave it open: one side, or width x height"
    parser.add_argument("--size", type=size, metavar="N|WxH", help=help_text)
    add_json(parser)
    add_example(parser, "edged models", "edged models vgg16 net.onnx net-int8.onnx --size 224")


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each network, as soon as it is loaded. Raises ModelError, ConfigError."""
    named: Sequence[str] = arguments.models or BUNDLED + RANDOM
    configs = (_config(name, arguments.size) for name in named)
    found = (
        footprint(load_model(settings), None if settings.name in RANDOM else model_path(settings))
        for settings in configs
    )
    if arguments.json:
        print(json.dumps([asdict(each) for each in found], ensure_ascii=False))
        return 0
    width = max(map(len, (HEAD[0], *named)))
    print(_line(HEAD, width))
    for each in found:
        print(printable_lines(_line(tuple(_cells(each)), width)), flush=True)
    show("\n".join(("", *EXPLANATION)))
    return 0


def footprint(model: Model, file: Path | None) -> Footprint:
    """Return the size of a model, which was read from `file`."""
    graph = model.graph
    values = (getattr(each, field.name) for each in graph.operators for field in fields(each))
    return Footprint(
        model.name,
        model.input.width,
        model.input.height,
        sum(map(parameters, graph.operators)),
        file.stat().st_size if file else None,
        sum(value.nbytes for value in values if isinstance(value, np.ndarray)),
        peak_bytes(graph),
        macs(graph),
        sum(math.prod(graph.shapes[operator.output]) for operator in graph.operators),
    )


def _config(name: str, given: int | tuple[int, int] | None) -> ModelConfig:
    """Return the config of a model. The size is for those that leave it open: not for the bundled ones."""
    keys = {} if given is None or name in BUNDLED else {"size": given}
    return validated(**{"path" if is_file_name(name) else "name": name, **keys})


def _cells(found: Footprint) -> Iterator[str]:
    yield found.model
    yield f"{found.width}×{found.height}"
    yield f"{found.parameters / 1e6:.2f} M"
    yield _megabytes(found.file_bytes) if found.file_bytes is not None else "–"
    yield _megabytes(found.weight_bytes)
    yield _megabytes(found.tensor_bytes)
    yield f"{found.macs / 1e6:.0f} M"
    yield f"{found.activations / 1e6:.2f} M"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def _line(cells: Sequence[str], width: int) -> str:
    first, *rest = cells
    return f"{first:{width}} " + " ".join(f"{cell:>8}" for cell in rest)
