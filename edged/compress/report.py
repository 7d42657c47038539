"""What a compression reached, and its report: a page with two tables and a picture, size against accuracy."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from edged.compress.coded_file import CodedLayer
from edged.drawing.chart import COLORS, Chart, LinearAxis, LogAxis
from edged.system.plain_text import aligned

MARGIN = 1.5  # of the sizes, so that dots do not lie on the edge
LEAST_RANGE = 1.0  # points of accuracy
TEXTS = 1  # columns that are aligned to the left
STEPS_HEAD = ("step", "file", "bytes", "times smaller", "accuracy", "points lost")
LAYERS_HEAD = ("layer", "weights", "zeros", "entries", "Huffman bound", "Zstandard", "of the bound")

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class CompressionStep:
    """The network after a step. `size`: bytes of its file. `accuracy`: share of right answers, 0 to 1."""

    name: str
    file: str
    size: int
    accuracy: float


@dataclass(frozen=True, eq=False)
class Compression:
    """All steps, the original first and the result last. `judged_by`: the measure of accuracy, for people."""

    name: str
    device: str
    pictures: int
    judged_by: str
    max_loss: float
    steps: Sequence[CompressionStep]
    layers: Sequence[CodedLayer]

    @property
    def ratio(self) -> float:
        """Return how many times smaller the result is than the original file."""
        return self.steps[0].size / self.steps[-1].size

    @property
    def loss(self) -> float:
        """Return the accuracy lost, 0 to 1."""
        return self.steps[0].accuracy - self.steps[-1].accuracy

    @property
    def bits(self) -> float:
        """Return the bits of the compressed file for each weight."""
        return 8 * self.steps[-1].size / sum(layer.weights for layer in self.layers)

    @property
    def verdict(self) -> str:
        """Return the result in a sentence."""
        first, last = self.steps[0], self.steps[-1]
        sizes = f"{first.size / 1024:.1f} → {last.size / 1024:.1f} KiB, {self.ratio:.1f} times smaller"
        return f"{self.name}: {sizes}, {100 * self.loss:.2f} points lost ({self.judged_by})"

    def as_object(self) -> dict[str, Any]:
        """Return the outcome for JSON."""
        return {
            "name": self.name,
            "device": self.device,
            "pictures": self.pictures,
            "judged_by": self.judged_by,
            "max_loss": self.max_loss,
            "ratio": self.ratio,
            "loss": self.loss,
            "bits_per_weight": self.bits,
            "steps": [asdict(step) for step in self.steps],
            "layers": [asdict(layer) for layer in self.layers],
        }


def write_report(outcome: Compression, folder: Path) -> None:
    """Write report.md and size.svg. Raises OSError."""
    (folder / "size.svg").write_text(size_chart(outcome), "utf-8")
    (folder / "report.md").write_text(_page(outcome), "utf-8")


def as_text(outcome: Compression) -> str:
    """Return both tables and the verdict, for a terminal."""
    tables = ("\n".join(aligned(rows, TEXTS)) for rows in (_step_rows(outcome), _layer_rows(outcome.layers)))
    parts = [*tables, outcome.verdict]
    return "\n\n".join(parts)


def size_chart(outcome: Compression) -> str:
    """Draw the size and accuracy after each step as SVG."""
    points = [(step.size / 1024, 100 * step.accuracy) for step in outcome.steps]
    sizes, shares = zip(*points, strict=True)
    x = LogAxis("KiB", min(sizes) / MARGIN, max(sizes) * MARGIN)
    low = min(shares) - LEAST_RANGE / 2
    y = LinearAxis(f"{outcome.judged_by}, %", low, max(*shares, low + LEAST_RANGE))
    chart = Chart(f"Size and accuracy of {outcome.name}", outcome.verdict, x, y)
    limit = 100 * (outcome.steps[0].accuracy - outcome.max_loss)
    if limit >= low:
        chart.line([(x.low, limit), (x.high, limit)], "#888", dashed=True)
    chart.line(points)
    for step, point, color in zip(outcome.steps, points, COLORS, strict=False):
        chart.dot(point, color, f"{step.name}: {step.size} bytes, {point[1]:.2f} %", radius=6)
    for step, point in zip(outcome.steps, points, strict=True):
        chart.label(point, step.name)
    chart.legend({}, "dashed: the accuracy that must be kept")
    return chart.svg()


def _page(outcome: Compression) -> str:
    return "\n".join(
        [
            f"# {outcome.name}, compressed",
            "",
            f"{outcome.verdict}, on {outcome.pictures} pictures; {outcome.bits:.2f} bits for each weight.",
            "",
            "![size and accuracy after each step](size.svg)",
            "",
            _table(_step_rows(outcome)),
            "",
            "The bound is that of a Huffman code of each layer's indices, without its table. Beside it is what",
            "Zstandard makes of them, which can be less: it also codes sequences of indices.",
            "",
            _table(_layer_rows(outcome.layers)),
            "",
        ]
    )


def _step_rows(outcome: Compression) -> list[tuple[str, ...]]:
    first = outcome.steps[0]
    rows: list[tuple[str, ...]] = [STEPS_HEAD]
    for step in outcome.steps:
        times, lost = f"{first.size / step.size:.1f}", f"{100 * (first.accuracy - step.accuracy):.2f}"
        rows.append((step.name, step.file, str(step.size), times, f"{100 * step.accuracy:.2f} %", lost))
    return rows


def _layer_rows(layers: Sequence[CodedLayer]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [LAYERS_HEAD]
    for layer in layers:
        share = f"{layer.coded_bytes / layer.bound_bytes:.2f}" if layer.bound_bytes else "–"
        weights = layer.name, str(layer.weights), f"{layer.zeros / layer.weights:.0%}", str(layer.entries)
        rows.append((*weights, f"{layer.bound_bytes:.0f}", str(layer.coded_bytes), share))
    return rows


def _table(rows: Rows) -> str:
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    line = f"|{'---|' * TEXTS}{'--:|' * (len(rows[0]) - TEXTS)}"
    return "\n".join([head, line, *others])
