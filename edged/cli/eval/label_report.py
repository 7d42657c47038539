"""The part of the report of `edged eval` for independent scores: each label by itself."""

from collections.abc import Iterator, Sequence
from typing import Any

from edged.evaluation.figures import PictureAnswer
from edged.evaluation.label_figures import LabelFigures, all_right, label_figures, sum_of
from edged.evaluation.pictures import LabelledPicture
from edged.model.package import Model
from edged.model.scores import ScoreRule
from edged.system.plain_text import aligned

HEAD = ("label", "threshold", "pictures", "found", "wrongly", "precision", "recall", "F1")
SHOWN = 20  # labels, those with the lowest F1


class LabelReport:
    """Precision, recall and F1 of all labels together, and of each."""

    def __init__(
        self, model: Model, rule: ScoreRule, pictures: Sequence[LabelledPicture], answers: Sequence[PictureAnswer]
    ) -> None:
        classes = [picture.classes for picture in pictures]
        self._labels, self._thresholds = model.labels, rule.thresholds
        self._figures = label_figures(answers, classes, len(model.labels))
        self._all = sum_of(self._figures)
        self._all_right = all_right(answers, classes)
        self._pictures = sum(answer.is_read for answer in answers)

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield the figures of all labels together, each with its name."""
        share = self._all_right / self._pictures if self._pictures else 0.0
        yield "all labels", f"right for {self._all_right} ({100 * share:.2f} %)"
        yield "precision", f"{self._all.precision:.4f}: {self._all.wrongly} labels were found where they are not"
        yield "recall", f"{self._all.recall:.4f}: {self._all.missed} labels were not found where they are"
        yield "F1", f"{self._all.f1:.4f}"

    def table(self) -> str:
        """Format a line for each label, the lowest F1 first."""
        indices = sorted(range(len(self._figures)), key=lambda index: self._figures[index].f1)
        rows = [HEAD, *(self._row(index) for index in indices[:SHOWN])]
        more = [f"and {len(indices) - SHOWN} more labels"] if len(indices) > SHOWN else []
        return "\n".join([*aligned(rows, left=1), *more])

    def _row(self, index: int) -> tuple[str, ...]:
        each = self._figures[index]
        counts = (each.found + each.missed, each.found, each.wrongly)
        shares = (each.precision, each.recall, each.f1)
        return (
            self._labels[index],
            f"{self._thresholds[index]:g}",
            *map(str, counts),
            *(f"{share:.4f}" for share in shares),
        )

    def as_object(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {
            "all_right": self._all_right,
            **_shares(self._all),
            "labels": [
                {
                    "label": label,
                    "threshold": threshold,
                    "found": each.found,
                    "wrongly": each.wrongly,
                    "missed": each.missed,
                    **_shares(each),
                }
                for label, threshold, each in zip(self._labels, self._thresholds, self._figures, strict=True)
            ],
        }


def _shares(figures: LabelFigures) -> dict[str, float]:
    return {"precision": figures.precision, "recall": figures.recall, "f1": figures.f1}
