"""`edged inspect`: what a model wants, what it costs, and what is missing to run it."""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edged.cli.model_options import SOURCES, add_input_options, answers_as_object, given_keys, model_config
from edged.cli.model_section import config_lines, config_of
from edged.cli.options import add_example, add_json
from edged.errors import ModelError
from edged.messages.preparation import ON_COMMAND_LINE, default_warning
from edged.model.cost import LayerCost, layer_costs, peak_bytes
from edged.model.package import Model, load_model
from edged.model.scores import score_rule
from edged.system.plain_text import aligned, counted, fitted, printable_json, printable_lines
from edged.system.terminal import room_for_names, shortened, warn

if TYPE_CHECKING:
    from onnx import ValueInfoProto

    from edged.model.onnx_reader import MissingOperator

HEAD = ("layer", "kind", "output", "parameters", "MACs", "bytes")
SHOWN = 3  # labels


@dataclass(frozen=True)
class FileTensor:
    """An input or output of the file. `dims`: numbers, names of open dimensions, or `?`."""

    name: str
    type: str
    dims: tuple[int | str, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.type} [{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True)
class FileFacts:
    """`nbytes`: of the file and of those with its weights. `missing`: operators without support."""

    path: Path
    opset: int
    producer: str
    nodes: int
    nbytes: int
    inputs: tuple[FileTensor, ...]
    outputs: tuple[FileTensor, ...]
    missing: "tuple[MissingOperator, ...]"
    chosen_from: tuple[str, ...]
    float_layers: int


def facts_of(path: Path) -> FileFacts:
    """Read the facts of a file. Raises ModelError for one that is no ONNX file, or is damaged."""
    from edged.model.from_onnx.file import read_file
    from edged.model.from_onnx.tensors import inputs_of
    from edged.model.onnx_reader import missing_operators

    file = read_file(path)
    graph = file.model.graph
    return FileFacts(
        path,
        file.opset,
        " ".join(filter(None, (file.model.producer_name, file.model.producer_version))),
        len(graph.node),
        file.nbytes,
        _tensors(inputs_of(graph)),
        _tensors(graph.output),
        missing_operators(file),
        file.chosen_from,
        file.float_layers,
    )


def _tensors(entries: "Iterable[ValueInfoProto]") -> tuple[FileTensor, ...]:
    from edged.model.from_onnx.tensors import type_name

    return tuple(
        FileTensor(
            entry.name,
            type_name(entry.type.tensor_type.elem_type),
            tuple(dim.dim_value or dim.dim_param or "?" for dim in entry.type.tensor_type.shape.dim),
        )
        for entry in entries
    )


@dataclass(frozen=True)
class InspectReport:
    """`given`: the options. `file`: None for a named model. `model`: None if it cannot be used: `error`."""

    named: str
    given: Mapping[str, Any]
    file: FileFacts | None
    model: Model | None
    error: ModelError | None = None

    def as_text(self) -> str:
        """Return the facts, the table of layers and the lines of config to paste."""
        facts = (fitted(f"{name:12}{text}", sys.stdout, 12) for name, text in self._facts())
        parts = ["\n".join(facts)]
        if self.file and self.file.missing:
            parts.append("\n".join(["operators that edged lacks:", *(f"  {each}" for each in self.file.missing)]))
        if self.model:
            parts.append(table(layer_costs(self.model.graph)))
            parts.append(config_lines(self.named, self.given, self.model))
        return "\n\n".join(parts)

    def as_object(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            "model": self.named,
            "file": self.file and asdict(self.file) | {"path": str(self.file.path)},
            "error": self.error and str(self.error),
            **(_model_as_object(self.named, self.given, self.model) if self.model else {}),
        }

    def _facts(self) -> Sequence[tuple[str, str]]:
        facts: list[tuple[str, str]] = []
        if self.file:
            by = f", by {self.file.producer}" if self.file.producer else ""
            facts.append(("file", f"{self.file.path}, {size(self.file.nbytes)}, opset {self.file.opset}{by}"))
            facts += [("input", str(each)) for each in self.file.inputs]
            facts += [("output", str(each)) for each in self.file.outputs]
            if self.file.chosen_from:
                facts.append(("left out", "what the file computes of its outputs to choose boxes: edged does so"))
            if count := self.file.float_layers:
                layers = counted(count, "layer")
                facts.append(("in floats", f"{layers} whose input the file quantizes for each picture"))
        return [*facts, *(_model_facts(self.model) if self.model else ())]


def _model_facts(model: Model) -> Sequence[tuple[str, str]]:
    costs = layer_costs(model.graph)
    weights = sum(each.parameters for each in costs)
    random = "; random weights, for timing only" if model.random_weights else ""
    source = "" if model.random_weights else f" ({SOURCES[model.prepared_by]})"
    return [
        ("model", f"{model.name}, sha256 {model.sha256[:12]}…{random}"),
        ("pictures", f"{model.input.described}{source}"),
        ("labels", _labels(model)),
        ("boxes", model.detector.described) if model.detector else ("scores", score_rule(model).described),
        ("weights", f"{weights:,} parameters, {size(4 * weights)} in float32"),
        ("work", f"{sum(each.macs for each in costs):,} MACs a frame"),
        ("memory", f"{size(sum(each.activation_bytes for each in costs))} of layers' outputs a frame, of which "
                   f"{size(peak_bytes(model.graph))} at the same time"),
    ]  # fmt: skip


def _labels(model: Model) -> str:
    count = len(model.labels)
    if not model.has_labels:
        return f"none: the {count} classes are numbered"
    more = ", …" if count > SHOWN else ""
    return f"{count}: {', '.join(model.labels[:SHOWN])}{more}"


def table(costs: Sequence[LayerCost]) -> str:
    """Format a line for each layer, and the sums."""
    rows = [HEAD, *map(_row, costs)]
    sums = (sum(each.parameters for each in costs), sum(each.macs for each in costs))
    total = sum(each.activation_bytes for each in costs)
    rows.append(("sum", "", "", *(f"{number:,}" for number in (*sums, total))))
    others = sum(2 + max(map(len, column)) for column in list(zip(*rows, strict=True))[1:])
    wide = room_for_names((name for name, *_ in rows), others)
    short = shortened((name for name, *_ in rows), wide)
    return "\n".join(aligned([(short[name], *cells) for name, *cells in rows], left=2))


def _row(cost: LayerCost) -> tuple[str, ...]:
    numbers = (f"{number:,}" if number else "–" for number in (cost.parameters, cost.macs, cost.activation_bytes))
    return cost.layer, cost.kind, "×".join(map(str, cost.output)), *numbers


def size(nbytes: int) -> str:
    """Format bytes as MB or kB (powers of ten)."""
    return f"{nbytes / 1e6:.1f} MB" if nbytes >= 1e6 else f"{nbytes / 1e3:.1f} kB"


def _model_as_object(named: str, given: Mapping[str, Any], model: Model) -> dict[str, Any]:
    costs = layer_costs(model.graph)
    return {
        "name": model.name,
        "sha256": model.sha256,
        "random_weights": model.random_weights,
        "input": asdict(model.input) | {"channels": model.input.channels},
        "preparation": model.input.described,
        "prepared_by": model.prepared_by,
        "contradictions": list(model.contradictions),
        "labels": list(model.labels) if model.has_labels else None,
        "classes": len(model.labels),
        **_answers_as_object(model),
        "parameters": sum(each.parameters for each in costs),
        "macs": sum(each.macs for each in costs),
        "activation_bytes": sum(each.activation_bytes for each in costs),
        "peak_bytes": peak_bytes(model.graph),
        "layers": [asdict(each) for each in costs],
        "config": {"model": config_of(named, given)},
    }


def _answers_as_object(model: Model) -> dict[str, Any]:
    if model.detector:
        return {"task": "detect", "decode": model.detector.decode, **answers_as_object(model)}
    return {"task": "classify", "scores": score_rule(model).kind, **answers_as_object(model)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model and the options of its input."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model")
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)
    add_example(parser, "edged inspect resnet18.onnx", "edged inspect vgg16 --size 224 --json")


def run(arguments: argparse.Namespace) -> int:
    """Print the report: for a file that cannot be used, only its own facts. Raises ModelError after it."""
    wanted = model_config(arguments)
    file = facts_of(wanted.path) if wanted.path else None
    model, error = None, None
    try:
        model = load_model(wanted)
    except ModelError as problem:
        if file is None:
            raise
        error = problem
    _print(InspectReport(arguments.model, given_keys(arguments), file, model, error), as_json=arguments.json)
    if error:
        raise error
    if model and model.doubt:
        warn(f"{wanted.path or arguments.model}: {model.doubt}")
    if model and model.prepared_by == "default" and not model.random_weights:
        warn(default_warning(model.input.described, ON_COMMAND_LINE))
    return 0


def _print(report: InspectReport, *, as_json: bool) -> None:
    if as_json:
        print(printable_json(json.dumps(report.as_object(), ensure_ascii=False)), flush=True)
    else:
        print(printable_lines(report.as_text()), flush=True)
