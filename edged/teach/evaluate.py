"""Count how many held-back crops a model classifies correctly, by their features: all share the same backbone."""

from collections.abc import Sequence
from dataclasses import dataclass

from edged.model import reference
from edged.model.cuts import part
from edged.model.head import Head, features_of
from edged.model.head_versions import Version
from edged.model.package import Model
from edged.system.plain_text import aligned
from edged.teach.examples import LabelledFeatures
from edged.teach.features import Vector

OTHER = "other"


@dataclass(frozen=True)
class Verdict:
    """The answers of a model to the held-back crops. `answers`: one for each; `truth`: its label."""

    truth: tuple[str, ...]
    answers: tuple[str, ...]

    @property
    def right(self) -> int:
        """Return the number of correct answers."""
        return sum(a == b for a, b in zip(self.truth, self.answers, strict=True))

    @property
    def accuracy(self) -> float:
        """Return the share of correct answers; 0 without crops."""
        return self.right / len(self.truth) if self.truth else 0.0

    def table(self, labels: Sequence[str]) -> str:
        """Format a row for each label: how often each answer was given.

        One column counts all answers that are none of these labels.
        """
        columns = [*labels, *([OTHER] if set(self.answers) - set(labels) else [])]
        rows = [["", *columns, "right"]]
        for label in labels:
            answers = [
                a if a in labels else OTHER for t, a in zip(self.truth, self.answers, strict=True) if t == label
            ]
            share = f"{answers.count(label) / len(answers):.0%}" if answers else "none held back"
            rows.append([label, *(str(answers.count(each) or "·") for each in columns), share])
        return "\n".join(aligned(rows, left=1))

    def __str__(self) -> str:
        return f"{self.right} of {len(self.truth)} ({self.accuracy:.1%})"


def of_head(head: Head, labels: Sequence[str], held_back: LabelledFeatures) -> Verdict:
    """Evaluate a head on the examples that are held back."""
    return _verdict(head.shares(held_back.features), labels, held_back)


def of_model(model: Model, held_back: LabelledFeatures) -> Verdict:
    """Evaluate the layers after the features of the config's own model."""
    graph = model.graph.checked()
    rest = part(graph, features_of(graph), None)
    return _verdict(reference.run(rest, held_back.features), model.labels, held_back)


def of_version(version: Version, content: bytes, held_back: LabelledFeatures) -> Verdict:
    """Evaluate a version whose head has this content. Raises ModelError for a damaged one."""
    head = Head.from_bytes(content, version.features, version.hidden, len(version.labels))
    return of_head(head, version.labels, held_back)


def _verdict(scores: Vector, labels: Sequence[str], held_back: LabelledFeatures) -> Verdict:
    truth = tuple(held_back.labels[index] for index in held_back.classes)
    return Verdict(truth, tuple(labels[index] for index in scores.reshape(len(held_back), -1).argmax(axis=1)))
