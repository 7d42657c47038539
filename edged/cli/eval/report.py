"""Format the figures of `edged eval`: text for people, one JSON object for programs."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from edged.evaluation.figures import BINS, PictureAnswer, figures_of, interval, worst
from edged.evaluation.pictures import LabelledPicture, LabelledPictures
from edged.model.package import Model
from edged.train.plots import as_text

MATRIX = 16  # labels, of which a whole matrix is printed
SHOWN = 10  # confusions and pictures


class EvalReport:
    """The figures of one evaluation. `answers`: in the order of the pictures; `rate`: pictures a second."""

    def __init__(
        self,
        model: Model,
        device: str,
        arguments: argparse.Namespace,
        data: LabelledPictures,
        answers: Sequence[PictureAnswer],
        rate: float,
    ) -> None:
        self._model, self._device, self._arguments, self._rate = model, device, arguments, rate
        self._pictures, self._answers = data.pictures, answers
        self.figures = figures_of(answers, [picture.classes for picture in data.pictures])

    def unread(self) -> Iterator[tuple[LabelledPicture, PictureAnswer]]:
        """Yield the pictures that could not be read."""
        pairs = zip(self._pictures, self._answers, strict=True)
        return ((picture, answer) for picture, answer in pairs if not answer.is_read)

    def as_text(self) -> str:
        """Return the figures, the confusions and the worst pictures."""
        parts = ["\n".join(f"{name:16}{text}" for name, text in self._lines())]
        if self._is_matrix:
            parts.append(self._matrix())
        elif confusions := self._confusions():
            rows = (f"{count:8}  {self._label(right)} → {self._label(best)}" for right, best, count in confusions)
            parts.append("\n".join(["most frequent confusions: right label → answer", *rows]))
        if pictures := self._worst():
            rows = (
                f"  {each['score']:.4f}  {each['answer']}, not {each['right']}: {each['picture']}"
                for each in pictures
            )
            parts.append("\n".join(["wrong answers with the highest scores", *rows]))
        return "\n\n".join(parts)

    def _lines(self) -> Iterator[tuple[str, str]]:
        figures = self.figures
        low, high = (f"{100 * share:.1f}" for share in interval(figures.first, figures.pictures))
        yield "model", f"{self._model.name}, {self._arguments.precision}, on {self._device}"
        yield "pictures", f"{figures.pictures} of {self._arguments.data}; {self._model.input.described}"
        right = f"{figures.first} ({100 * figures.top1:.2f} %; 95 % interval {low} to {high} %)"
        yield "first class", f"right for {right}"
        if len(self._model.labels) > 5:
            yield "first five", f"hold the right one for {figures.first_five} ({100 * figures.top5:.2f} %)"
        yield "calibration", f"error {figures.ece:.4f} (ECE, {BINS} bins); mean score {figures.mean_score:.4f}"
        yield "speed", f"{self._rate:.1f} pictures/s, reading and preparing included"
        if figures.not_finite:
            yield "not finite", f"{figures.not_finite} answers with NaN or infinity, counted as wrong"
        if figures.unread:
            yield "not evaluated", f"{figures.unread} pictures that cannot be read"

    @property
    def _is_matrix(self) -> bool:
        return len(self._model.labels) <= MATRIX

    def _matrix(self) -> str:
        """Format how often each answer (column) came for each right label (row)."""
        labels = self._model.labels
        counts = np.zeros((len(labels), len(labels)), np.int64)
        for pair, count in self.figures.confusion.items():
            counts[pair] = count
        return f"right label (rows), answer (columns)\n{as_text(counts, labels)}"

    def _confusions(self) -> list[tuple[int, int, int]]:
        """Return the most frequent wrong answers: right class, answer, count."""
        wrong = [(*pair, count) for pair, count in self.figures.confusion.items() if pair[0] != pair[1]]
        return sorted(wrong, key=lambda each: (-each[2], each[0], each[1]))[:SHOWN]

    def _worst(self) -> list[dict[str, Any]]:
        return [
            {
                "picture": self._pictures[place].name,
                "right": " | ".join(map(self._label, self._pictures[place].classes)),
                "answer": self._label(self._answers[place].best),
                "score": self._answers[place].score,
                "rank": self._answers[place].rank,
            }
            for place in worst(self._answers, SHOWN)
        ]

    def _label(self, place: int) -> str:
        return self._model.labels[place] if place >= 0 else "not finite"

    def as_object(self) -> dict[str, Any]:
        """Return the figures for JSON; `confusion`: [right class, answer, count]."""
        figures, model = self.figures, self._model
        return {
            "model": {"name": model.name, "sha256": model.sha256, "classes": len(model.labels)},
            "device": self._device,
            "precision": self._arguments.precision,
            "preparation": model.input.described,
            "prepared_by": model.prepared_by,
            "data": str(self._arguments.data),
            "pictures": figures.pictures,
            "unread": [picture.name for picture, _ in self.unread()],
            "not_finite": figures.not_finite,
            "top1": figures.top1,
            "top1_interval": interval(figures.first, figures.pictures),
            "top5": figures.top5,
            "calibration_error": figures.ece,
            "mean_score": figures.mean_score,
            "pictures_per_s": self._rate,
            "confusion": [[*pair, count] for pair, count in sorted(figures.confusion.items())],
            "worst": self._worst(),
        }
