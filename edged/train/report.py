"""Write the results of a training beside the model: figures, pictures of them, and a page that shows all."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from edged.model.graph import Float32
from edged.system.plain_text import counted
from edged.train.plots import (
    accuracy_chart,
    as_text,
    confusion,
    contact_sheet,
    draw_confusion,
    loss_chart,
)
from edged.train.results import Epoch
from edged.train.source import LabelledImages

WORST = 32


@dataclass(frozen=True, eq=False)
class EvaluatedImages:
    """The evaluated pictures, and the network's answers. what: `test`, `validation` or `training`."""

    what: str
    examples: LabelledImages
    probabilities: Float32
    loss: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class TrainingOutcome:
    """A finished training. facts: what it depended on. stays: the epoch of the weights, None for the last."""

    name: str
    labels: tuple[str, ...]
    history: Sequence[Epoch]
    stays: Epoch | None
    judged: EvaluatedImages
    facts: Mapping[str, str]


def write_report(outcome: TrainingOutcome, folder: Path) -> str:
    """Write report.md and its files; return a one-line result. Raises OSError."""
    import cv2

    judged = outcome.judged
    counts = confusion(judged.examples.labels, judged.probabilities.argmax(axis=1), len(outcome.labels))
    worst = _worst(outcome)
    pictures = {"confusion.png": draw_confusion(counts, outcome.labels)}
    if worst:
        images = [judged.examples.images[index] for index in worst]
        pictures["worst.png"] = contact_sheet(images, [_caption(outcome, index) for index in worst])
    for name, picture in pictures.items():
        (folder / name).write_bytes(bytes(cv2.imencode(".png", picture[..., ::-1])[1]))
    (folder / "loss.svg").write_text(loss_chart(outcome.history))
    (folder / "accuracy.svg").write_text(accuracy_chart(outcome.history))
    (folder / "curve.csv").write_text(_as_csv(outcome.history))
    (folder / "metrics.json").write_text(json.dumps(_metrics(outcome), indent=2, ensure_ascii=False) + "\n")
    (folder / "report.md").write_text(_page(outcome, as_text(counts, outcome.labels), worst))
    return _verdict(outcome)


def _verdict(outcome: TrainingOutcome) -> str:
    judged, stays = outcome.judged, outcome.stays
    pictures = counted(len(judged.examples), "picture")
    kept = f"; the weights are those of epoch {stays.epoch}, the best" if stays else ""
    epochs = counted(outcome.history[-1].epoch, "epoch")
    return (
        f"{outcome.name}: {100 * judged.accuracy:.2f} % of {pictures} ({judged.what}) right, "
        f"loss {judged.loss:.4f}, after {epochs}{kept}"
    )


def _worst(outcome: TrainingOutcome) -> list[int]:
    """Return the indices of wrong answers, the most confident first."""
    judged = outcome.judged
    answers = judged.probabilities.argmax(axis=1)
    wrong = np.flatnonzero(answers != judged.examples.labels)
    surest = np.argsort(-judged.probabilities[wrong, answers[wrong]], kind="stable")
    return [int(index) for index in wrong[surest][:WORST]]


def _caption(outcome: TrainingOutcome, index: int) -> tuple[str, str]:
    """Truth, and what was answered in its place."""
    row = outcome.judged.probabilities[index]
    answer = int(row.argmax())
    return (
        f"is {outcome.labels[outcome.judged.examples.labels[index]]}",
        f"not {outcome.labels[answer]}: {100 * row[answer]:.0f} %",
    )


def _as_csv(history: Sequence[Epoch]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, [field.name for field in fields(Epoch)], lineterminator="\n")
    table.writeheader()
    table.writerows(one.as_facts() for one in history)
    return text.getvalue()


def _metrics(outcome: TrainingOutcome) -> dict[str, Any]:
    judged, stays = outcome.judged, outcome.stays
    return {
        "schema": 1,
        "name": outcome.name,
        "labels": outcome.labels,
        "judged_by": judged.what,
        "pictures": len(judged.examples),
        "accuracy": judged.accuracy,
        "loss": judged.loss,
        "kept_epoch": (stays or outcome.history[-1]).epoch,
        "history": [one.as_facts() for one in outcome.history],
        "facts": dict(outcome.facts),
    }


def _page(outcome: TrainingOutcome, table: str, worst: Sequence[int]) -> str:
    facts = "\n".join(f"| {name} | {value} |" for name, value in outcome.facts.items())
    return f"""# {outcome.name}

{_verdict(outcome)}.

![loss by epoch](loss.svg)

![right answers by epoch](accuracy.svg)

The same as numbers: [curve.csv](curve.csv), [metrics.json](metrics.json).

## Confusion matrix

A row a label, a column an answer.

```
{table}
```

![the same as a picture](confusion.png)

## The worst answers

{_worst_text(outcome, worst)}

## What it depended on

| | |
| --- | --- |
{facts}
"""


def _worst_text(outcome: TrainingOutcome, worst: Sequence[int]) -> str:
    if not worst:
        return "All answers are right."
    lines = ["Wrong ones, the surest first.", "", "![pictures with truth and answer](worst.png)", ""]
    for index in worst[:10]:
        truth, answer = _caption(outcome, index)
        lines.append(f"- picture {index} ({outcome.judged.what}) {truth}, {answer}")
    return "\n".join(lines)
