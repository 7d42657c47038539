"""Format the figures of `edged eval` for a detector, as text or JSON."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edged.cli.eval.kept_run import Answered
from edged.errors import DataError
from edged.evaluation.annotations import BoxPictures, TrueBox
from edged.evaluation.detect import BoxAnswer
from edged.evaluation.mean_precision import BoxFigures, JudgedPicture, box_figures, true_boxes
from edged.model.package import Model
from edged.system.plain_text import aligned, counted

HEAD = ("label", "boxes", "mAP")
SHOWN = 20  # labels, those with the lowest figures


@dataclass(frozen=True, eq=False)
class Truth:
    """Which boxes are right: the annotated ones, else those of onnxruntime that reach `thresholds`, by class.

    `version`: of onnxruntime; empty if nothing is compared with it.
    """

    data: BoxPictures
    thresholds: Sequence[float]
    version: str

    def boxes(self, other: Answered[BoxAnswer] | None) -> list[Sequence[TrueBox]]:
        """Return the right boxes of each picture. `other`: the answers of onnxruntime."""
        if self.data.annotations or not other:
            return [picture.truths for picture in self.data.pictures]
        return [true_boxes(answer.from_scores(self.thresholds), answer.size) for answer in other.answers]


class BoxReport:
    """The figures of one evaluation. `found`, `other`: the answers of the device and of onnxruntime."""

    def __init__(
        self,
        model: Model,
        device: str,
        arguments: argparse.Namespace,
        truth: Truth,
        found: Answered[BoxAnswer],
        other: Answered[BoxAnswer] | None,
    ) -> None:
        """Raises DataError where no box is right."""
        self._model, self._device, self._arguments, self._truth = model, device, arguments, truth
        self._rate, self._answers = found.rate, found.answers
        truths = truth.boxes(other)
        self._boxes = sum(map(len, truths))
        if not self._boxes:
            raise DataError(self._nothing_to_find())
        self.figures = box_figures(_judged(found.answers, truths))
        is_beside = other is not None and truth.data.annotations is not None
        self.of_other = box_figures(_judged(other.answers, truths)) if other and is_beside else None

    def _nothing_to_find(self) -> str:
        if self._truth.data.annotations:
            return f"{self._truth.data.annotations}: none of the evaluated pictures has a box: mAP needs one"
        return f"{self._arguments.data}: onnxruntime finds no box there; --threshold takes boxes of lower scores"

    def as_text(self) -> str:
        """Return the figures, and the labels that are found worst."""
        lines = "\n".join(f"{name:16}{text}" for name, text in self._lines())
        worst = sorted(self.figures.by_label, key=lambda each: each.precision)
        rows = [
            (self._model.labels[each.index], str(each.boxes), _percent(each.precision)) for each in worst[:SHOWN]
        ]
        more = [f"and {len(worst) - SHOWN} more labels"] if len(worst) > SHOWN else []
        return "\n\n".join([lines, "\n".join([*aligned([HEAD, *rows], left=1), *more])])

    def _lines(self) -> Iterator[tuple[str, str]]:
        figures, given = self.figures, self._arguments
        yield "model", f"{self._model.name}, {given.precision}, on {self._device}"
        read = sum(answer.is_read for answer in self._answers)
        yield "pictures", f"{read} of {given.data}; {self._model.input.described}"
        yield "right boxes", f"{self._right}: {self._boxes}, of {counted(len(figures.by_label), 'label')}"
        at = f"{_percent(figures.at_50)} at 0.50, {_percent(figures.at_75)} at 0.75"
        yield "mAP", f"{_percent(figures.mean)} (overlaps from 0.50 to 0.95); {at}"
        sizes = {"small": figures.small, "medium": figures.medium, "large": figures.large}
        yield "by size", ", ".join(f"{name} {_percent(share)}" for name, share in sizes.items())
        yield "recall", f"{_percent(figures.recall)} with at most 100 boxes a picture"
        if self.of_other:
            difference = 100 * (figures.mean - self.of_other.mean)
            text = f"mAP {_percent(self.of_other.mean)} by {self._truth.version}: {difference:+.2f} points here"
            yield "onnxruntime", text
        yield "speed", f"{self._rate:.1f} pictures/s, reading and preparing included"
        not_finite = sum(bool(answer.problem) and answer.is_read for answer in self._answers)
        if not_finite:
            yield "not finite", f"{counted(not_finite, 'answer')} with NaN or infinity, in which nothing is found"
        if len(self._answers) > read:
            yield "not evaluated", f"{counted(len(self._answers) - read, 'picture')} that cannot be read"

    @property
    def _right(self) -> str:
        return str(self._truth.data.annotations or f"by onnxruntime {self._truth.version}")

    def as_object(self) -> dict[str, Any]:
        """Return the figures for JSON; shares from 0 to 1, null where there is no box of that size."""
        model, given, data = self._model, self._arguments, self._truth.data
        return {
            "model": {"name": model.name, "sha256": model.sha256, "classes": len(model.labels)},
            "device": self._device,
            "precision": given.precision,
            "preparation": model.input.described,
            "prepared_by": model.prepared_by,
            "exif": not given.no_exif,
            "decoding": model.detector and model.detector.described,
            "data": str(given.data),
            "annotations": data.annotations and str(data.annotations),
            "pictures": sum(answer.is_read for answer in self._answers),
            "unread": [
                str(picture.path)
                for picture, answer in zip(data.pictures, self._answers, strict=True)
                if not answer.is_read
            ],
            "missing": list(data.missing),
            "boxes": self._boxes,
            "pictures_per_s": self._rate,
            **self._as_object(self.figures),
            "onnxruntime": {"version": self._truth.version, **self._as_object(self.of_other)}
            if self.of_other
            else None,
        }

    def _as_object(self, figures: BoxFigures) -> dict[str, Any]:
        labels = [
            {"label": self._model.labels[each.index], "boxes": each.boxes, "map": each.precision}
            for each in figures.by_label
        ]
        numbers = {key: value for key, value in asdict(figures).items() if key not in {"mean", "by_label"}}
        return {"map": figures.mean, **numbers, "labels": labels}


def _judged(answers: Sequence[BoxAnswer], truths: Sequence[Sequence[TrueBox]]) -> list[JudgedPicture]:
    """Return the pictures that could be read, with what is right and what was found."""
    return [
        JudgedPicture(answer.size, right, answer.boxes)
        for answer, right in zip(answers, truths, strict=True)
        if answer.is_read
    ]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"
