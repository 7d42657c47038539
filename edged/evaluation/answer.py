"""The answer of a network to one labelled picture."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class PictureAnswer:
    """`best`: the first class, with its `score`. `rank`: place of the first right class, from 1; 0
    if the network has none of them.

    `problem`: why there is no answer; `best` is then -1, and `rank` 0. `is_read`: False if the picture is
    unreadable.
    """

    best: int = -1
    score: float = 0.0
    rank: int = 0
    problem: str = ""
    is_read: bool = True

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
