"""Run `edged eval`: evaluate what an interrupted run has not reached, and print the figures as text or JSON."""

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from edged.cli.cluster_options import cluster_of, messages_of_ray, node_options, preparation_of, worker_config
from edged.cli.eval.kept_run import Evaluator, answered
from edged.cli.eval.label_report import LabelReport
from edged.errors import ConfigError, DataError, ImageError
from edged.evaluation.evaluate import DeviceEvaluation
from edged.evaluation.figures import BINS, PictureAnswer, figures_of, interval, worst
from edged.evaluation.kept_answers import KeptAnswers
from edged.evaluation.pictures import LabelledPicture, LabelledPictures, labelled_pictures
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.model.scores import score_rule
from edged.runtime.proven import open_proven
from edged.system.disk_cache import code_sha256
from edged.system.paths import cache_directory
from edged.system.plain_text import counted, printable_json, printable_lines
from edged.system.terminal import warn
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
        rule = score_rule(model)
        self._by_label = LabelReport(model, rule, data.pictures, answers) if rule.is_independent else None

    def unread(self) -> Iterator[tuple[LabelledPicture, PictureAnswer]]:
        """Yield the pictures that could not be read."""
        pairs = zip(self._pictures, self._answers, strict=True)
        return ((picture, answer) for picture, answer in pairs if not answer.is_read)

    def as_text(self) -> str:
        """Return the figures, the confusions and the worst pictures."""
        parts = ["\n".join(f"{name:16}{text}" for name, text in self._lines())]
        if self._by_label:
            return "\n\n".join([*parts, self._by_label.table()])
        if len(self._model.labels) <= MATRIX:
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
        yield "model", f"{self._model.name}, {self._arguments.precision}, on {self._device}"
        yield "pictures", f"{figures.pictures} of {self._arguments.data}; {self._model.input.described}"
        yield from self._by_label.lines() if self._by_label else self._best_classes()
        yield "speed", f"{self._rate:.1f} pictures/s, reading and preparing included"
        if figures.not_finite:
            yield "not finite", f"{counted(figures.not_finite, 'answer')} with NaN or infinity, counted as wrong"
        if figures.unread:
            yield "not evaluated", f"{counted(figures.unread, 'picture')} that cannot be read"

    def _best_classes(self) -> Iterator[tuple[str, str]]:
        figures = self.figures
        low, high = (f"{100 * share:.1f}" for share in interval(figures.first, figures.pictures))
        right = f"{figures.first} ({100 * figures.top1:.2f} %; 95 % interval {low} to {high} %)"
        yield "first class", f"right for {right}"
        if len(self._model.labels) > 5:
            yield "first five", f"hold the right one for {figures.first_five} ({100 * figures.top5:.2f} %)"
        yield "calibration", f"error {figures.ece:.4f} (ECE, {BINS} bins); mean score {figures.mean_score:.4f}"

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
                "picture": self._pictures[index].name,
                "right": " | ".join(map(self._label, self._pictures[index].classes)),
                "answer": self._label(self._answers[index].best),
                "score": self._answers[index].score,
                "rank": self._answers[index].rank,
            }
            for index in worst(self._answers, SHOWN)
        ]

    def _label(self, index: int) -> str:
        return self._model.labels[index] if index >= 0 else "not finite"

    def as_object(self) -> dict[str, Any]:
        """Return the figures for JSON; `confusion`: [right class, answer, count]."""
        figures, model = self.figures, self._model
        return {
            "model": {"name": model.name, "sha256": model.sha256, "classes": len(model.labels)},
            "device": self._device,
            "precision": self._arguments.precision,
            "preparation": model.input.described,
            "prepared_by": model.prepared_by,
            "exif": not self._arguments.no_exif,
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
            "scoring": score_rule(model).described,
            "by_label": self._by_label and self._by_label.as_object(),
        }


def run_evaluation(model: Model, arguments: argparse.Namespace) -> int:
    """Print the figures of a classifier; return the exit code. Raises EdgedError, KeyboardInterrupt."""
    if arguments.annotations:
        raise ConfigError(f"--annotations: are for detectors, and {model.name} is a classifier: give --data alone")
    data = labelled_pictures(arguments.data.absolute() if arguments.ray else arguments.data, model.labels)
    _require_labels(model, data)
    if arguments.no_exif:
        data = data.without_exif()
    if arguments.count:
        data = data.evenly_spaced(arguments.count)
    evaluation = _on_cluster(model, arguments) if arguments.ray else _here(model, arguments)
    with messages_of_ray(arguments, cache_directory() / "evaluations" / "ray.log"):
        report = _evaluate(model, evaluation, data, arguments)
    if arguments.json:
        print(printable_json(json.dumps(report.as_object(), ensure_ascii=False)))
    else:
        print(printable_lines(report.as_text()))
    for picture, answer in report.unread():
        warn(f"not evaluated: {answer.problem or picture.name}")
    return ImageError.exit_code if report.figures.unread else 0


def _require_labels(model: Model, data: LabelledPictures) -> None:
    """Raise DataError for a picture without a label, unless scores are independent."""
    without = next((picture for picture in data.pictures if not picture.classes), None)
    if without and not score_rule(model).is_independent:
        raise DataError(
            f"{without.name}: has no label (-), but one of {model.name}'s classes is right for each picture; "
            "none of them is there only where scores are independent"
        )


def _here(model: Model, arguments: argparse.Namespace) -> Evaluator[LabelledPicture, PictureAnswer]:
    return DeviceEvaluation(
        model, open_proven(whole_model(model), worker_config(arguments)).runtime, arguments.batch
    )


def _on_cluster(model: Model, arguments: argparse.Namespace) -> Evaluator[LabelledPicture, PictureAnswer]:
    from edged.evaluation.cluster import ClusterEvaluation

    data = arguments.data.absolute()
    folder = data if data.is_dir() else data.parent
    return ClusterEvaluation(cluster_of(arguments), node_options(arguments, model, folder))


def _evaluate(
    model: Model,
    evaluation: Evaluator[LabelledPicture, PictureAnswer],
    data: LabelledPictures,
    arguments: argparse.Namespace,
) -> EvalReport:
    """Evaluate the pictures that an interrupted run has not reached."""
    kept = KeptAnswers(PictureAnswer, _key(model, evaluation, data, arguments))
    if arguments.restart:
        kept.restart()
    found = answered(evaluation, data.pictures, kept, _share_right)
    return EvalReport(model, evaluation.device, arguments, data, found.answers, found.rate)


def _share_right(answers: Sequence[PictureAnswer]) -> str:
    return f"{100 * sum(answer.is_right for answer in answers) / len(answers):.1f} % right"


def _key(
    model: Model,
    evaluation: Evaluator[LabelledPicture, PictureAnswer],
    data: LabelledPictures,
    arguments: argparse.Namespace,
) -> list[object]:
    """Return everything that the answers depend on."""
    code = [code_sha256(f"edged.{part}") for part in ("pictures", "runtime", "engine", "evaluation", "model")]
    plan = [*evaluation.key, arguments.precision, arguments.batch]
    return [model.sha256, preparation_of(model), *plan, data.fingerprint, code]
