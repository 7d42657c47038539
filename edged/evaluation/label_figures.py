"""Figures of independent scores: of each label by itself, how often it was found where it is, and only there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from edged.evaluation.figures import PictureAnswer


@dataclass(frozen=True)
class LabelFigures:
    """Counts of pictures: with the label and found, found without it, with it and not found."""

    found: int = 0
    wrongly: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """Return the share of findings that are right; 1 without any."""
        findings = self.found + self.wrongly
        return self.found / findings if findings else 1.0

    @property
    def recall(self) -> float:
        """Return the share of pictures with the label where it was found; 1 without any."""
        pictures = self.found + self.missed
        return self.found / pictures if pictures else 1.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall (van Rijsbergen, "Information Retrieval", 1979)."""
        counted = 2 * self.found + self.wrongly + self.missed
        return 2 * self.found / counted if counted else 1.0


def label_figures(
    answers: Sequence[PictureAnswer], classes: Sequence[tuple[int, ...]], labels: int
) -> tuple[LabelFigures, ...]:
    """Return the figures of each of so many `labels`; all `classes` of a picture are there. NaN finds nothing."""
    found, wrongly, missed = Counter[int](), Counter[int](), Counter[int]()
    for answer, right in zip(answers, classes, strict=True):
        if answer.is_read:
            there, expected = set(answer.there), set(right)
            found.update(there & expected)
            wrongly.update(there - expected)
            missed.update(expected - there)
    return tuple(LabelFigures(found[label], wrongly[label], missed[label]) for label in range(labels))


def sum_of(figures: Sequence[LabelFigures]) -> LabelFigures:
    """Return the figures of all labels together."""
    return LabelFigures(
        sum(each.found for each in figures),
        sum(each.wrongly for each in figures),
        sum(each.missed for each in figures),
    )


def all_right(answers: Sequence[PictureAnswer], classes: Sequence[tuple[int, ...]]) -> int:
    """Return the number of pictures of which exactly the right labels were found."""
    finite = [pair for pair in zip(answers, classes, strict=True) if pair[0].is_read and not pair[0].problem]
    return sum(set(answer.there) == set(right) for answer, right in finite)
