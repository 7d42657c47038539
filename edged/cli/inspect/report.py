"""Format what `edged inspect` finds: text and tables for people, one JSON object for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edged.cli.inspect.config_lines import config_lines, config_of
from edged.cli.inspect.file_facts import FileFacts
from edged.errors import ModelError
from edged.model.cost import LayerCost, layer_costs, peak_bytes
from edged.model.package import Model

HEAD = ("layer", "kind", "output", "parameters", "MACs", "bytes")
SOURCES = {
    "config": "from the command line",
    "file": "from the file",
    "default": "the default: nothing defines it",
}
SHOWN = 3  # labels


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
        parts = ["\n".join(f"{name:12}{text}" for name, text in self._facts())]
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
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if column < 2 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


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
        "labels": list(model.labels) if model.has_labels else None,
        "classes": len(model.labels),
        "parameters": sum(each.parameters for each in costs),
        "macs": sum(each.macs for each in costs),
        "activation_bytes": sum(each.activation_bytes for each in costs),
        "peak_bytes": peak_bytes(model.graph),
        "layers": [asdict(each) for each in costs],
        "config": {"model": config_of(named, given)},
    }
