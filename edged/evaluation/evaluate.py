"""Classify labelled pictures as the daemon does: the same preparation, the same kernels, the same scores.

Several devices get pieces of the pictures; their answers are brought back into order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from edged.errors import ImageError
from edged.evaluation.figures import PictureAnswer, answer_of
from edged.evaluation.pictures import LabelledPicture
from edged.model.package import Model
from edged.model.scores import ScoreRule, score_rule
from edged.pictures.prepare import prepare
from edged.runtime.base import ModelRuntime
from edged.runtime.jobs import Prepared
from edged.runtime.scored import PictureScores, scored

MOST_IN_PIECE = 64  # pictures that a device gets at once

Piece = list[LabelledPicture]


def pieces_of(pictures: Sequence[LabelledPicture], batch: int) -> Iterator[tuple[int, Piece]]:
    """Yield the place of each piece with its pictures: whole jobs, since the last digits depend on those."""
    size = max(1, MOST_IN_PIECE // batch) * batch
    return ((index, list(pictures[index : index + size])) for index in range(0, len(pictures), size))


def in_order(
    answered: Iterator[tuple[int, list[PictureAnswer]]], indices: Sequence[int]
) -> Iterator[list[PictureAnswer]]:
    """Yield the answers to pieces in the order of their `indices`; those that come early wait."""
    waiting: dict[int, list[PictureAnswer]] = {}
    remaining = iter(indices)
    expected = next(remaining, None)
    for index, answers in answered:
        waiting[index] = answers
        while expected in waiting:
            yield waiting.pop(expected)
            expected = next(remaining, None)


class DeviceEvaluation:
    """An evaluation by one device of this host."""

    def __init__(self, model: Model, runtime: ModelRuntime, batch: int) -> None:
        self._model, self._runtime, self._batch = model, runtime, batch

    @property
    def device(self) -> str:
        return self._runtime.device_name

    @property
    def key(self) -> list[object]:
        """Return what the answers depend on, beside the model, the plan and the pictures."""
        return [self.device, getattr(self._runtime, "proof_key", "")]

    def answers(self, pictures: Sequence[LabelledPicture]) -> Iterator[list[PictureAnswer]]:
        """Yield the answers of each job, in order. Raises DeviceError."""
        return evaluate(self._model, self._runtime, pictures, self._batch)


def evaluate(
    model: Model, runtime: ModelRuntime, pictures: Sequence[LabelledPicture], batch: int
) -> Iterator[list[PictureAnswer]]:
    """Yield the answers of each job of `batch` pictures, in order.

    While the device computes a job, the pictures of the next one are read and prepared. Raises DeviceError.
    """
    rule = score_rule(model)
    unanswered = iter(pictures)
    for job in scored(runtime, rule, (_prepared(picture, model) for picture in pictures), batch):
        yield [_answer(found, next(unanswered), rule) for found in job]


def _prepared(picture: LabelledPicture, model: Model) -> Prepared:
    try:
        return prepare(picture.pixels(), model.input)
    except ImageError as error:
        return str(error)


def _answer(found: PictureScores, picture: LabelledPicture, rule: ScoreRule) -> PictureAnswer:
    if found.scores is None:
        return PictureAnswer(problem=found.problem, is_read=found.is_read)
    answer = answer_of(rule.by_label(found.scores), picture.classes)
    if not rule.is_independent:
        return answer
    return replace(answer, there=tuple(each.index for each in rule.best(found.scores, len(found.scores))))
