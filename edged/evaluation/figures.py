"""The answer to each picture, and figures of all: how often the network is right, what it confuses."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

BINS = 15  # as in the paper by Guo et al.
NORMAL_95 = 1.959964  # quantile of the normal distribution for 95 %


@dataclass(frozen=True)
class PictureAnswer:
    """`best`: the first class, with its `score`. `rank`: place of the first right class, from 1; 0
    if the network has none of them.

    `problem`: why there is no answer; `best` is then -1, and `rank` 0. `is_read`: False if the picture is
    unreadable. `there`: of independent scores, the classes that reach their thresholds.
    """

    best: int = -1
    score: float = 0.0
    rank: int = 0
    problem: str = ""
    is_read: bool = True
    there: tuple[int, ...] = ()

    @property
    def is_right(self) -> bool:
        """Return whether the first class is a right one."""
        return self.rank == 1


def answer_of(shares: Floats, right: tuple[int, ...]) -> PictureAnswer:
    """Return the answer for probabilities [classes], of which the classes `right` are correct.

    Of equal ones the lower index comes first, as in predictions.
    """
    order = np.argsort(-shares, kind="stable")
    is_right = np.isin(order, right)
    rank = int(is_right.argmax()) + 1 if is_right.any() else 0
    return PictureAnswer(int(order[0]), float(shares[order[0]]), rank)


@dataclass(frozen=True)
class AccuracyFigures:
    """Counts of pictures, and the calibration of the answers.

    `pictures`: those that were read; `unread`: the others. `not_finite`: answers with NaN, which are wrong.
    `confusion`: how often (right class, answer) came; the right class of a picture with several is its first one,
    unless another one was the answer. `ece`: see `calibration_error`. `mean_score`: of the first classes.
    """

    pictures: int
    unread: int
    not_finite: int
    first: int
    first_five: int
    ece: float
    mean_score: float
    confusion: Mapping[tuple[int, int], int]

    @property
    def top1(self) -> float:
        """Return the share of pictures whose first class is right."""
        return self.first / self.pictures if self.pictures else 0.0

    @property
    def top5(self) -> float:
        """Return the share of pictures with a right class among the first five."""
        return self.first_five / self.pictures if self.pictures else 0.0


def figures_of(answers: Sequence[PictureAnswer], classes: Sequence[tuple[int, ...]]) -> AccuracyFigures:
    """Summarise the answers to pictures whose right classes are `classes`."""
    read = [(answer, right) for answer, right in zip(answers, classes, strict=True) if answer.is_read]
    finite = [answer for answer, _ in read if not answer.problem]
    scores = [answer.score for answer in finite]
    return AccuracyFigures(
        pictures=len(read),
        unread=len(answers) - len(read),
        not_finite=len(read) - len(finite),
        first=sum(answer.is_right for answer in finite),
        first_five=sum(1 <= answer.rank <= 5 for answer in finite),
        ece=calibration_error(scores, [answer.is_right for answer in finite]),
        mean_score=math.fsum(scores) / len(scores) if scores else 0.0,
        confusion=Counter(
            (answer.best if answer.is_right else right[0], answer.best)
            for answer, right in read
            if right and not answer.problem
        ),
    )


def calibration_error(scores: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Return the expected calibration error: 0 if of all answers with a score near p the share p is right.

    The scores are divided into `bins` intervals of equal width, ](m − 1) ÷ bins, m ÷ bins]; then it is
    Σ |answers of the interval| ÷ |all answers| · |share of right ones − mean score|. Source: Guo, Pleiss, Sun,
    Weinberger, "On Calibration of Modern Neural Networks", 2017, equation 3 (https://arxiv.org/abs/1706.04599).
    """
    members: dict[int, list[tuple[float, bool]]] = {}
    for each in zip(scores, right, strict=True):
        members.setdefault(max(0, math.ceil(each[0] * bins) - 1), []).append(each)
    gaps = (abs(sum(is_right - score for score, is_right in group)) for group in members.values())
    return math.fsum(gaps) / len(scores) if scores else 0.0


def interval(right: int, count: int) -> tuple[float, float]:
    """Return the interval that holds the true share with 95 % probability.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if not count:
        return 0.0, 1.0
    share, square = right / count, NORMAL_95**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = NORMAL_95 / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def worst(answers: Sequence[PictureAnswer], count: int) -> list[int]:
    """Return the indices of the `count` wrong answers with the highest scores, the worst first."""
    wrong = [index for index, answer in enumerate(answers) if answer.is_read and not answer.is_right]
    return sorted(wrong, key=lambda index: -answers[index].score)[:count]
