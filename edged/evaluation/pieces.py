"""Divide labelled pictures into pieces for several devices, and bring their answers back into order."""

from collections.abc import Iterator, Sequence

from edged.evaluation.figures import PictureAnswer
from edged.evaluation.pictures import LabelledPicture

MOST_IN_PIECE = 64  # pictures that a device gets at once

Piece = list[LabelledPicture]


def pieces_of(pictures: Sequence[LabelledPicture], batch: int) -> Iterator[tuple[int, Piece]]:
    """Yield the place of each piece with its pictures: whole jobs, since the last digits depend on those."""
    size = max(1, MOST_IN_PIECE // batch) * batch
    return ((place, list(pictures[place : place + size])) for place in range(0, len(pictures), size))


def in_order(
    answered: Iterator[tuple[int, list[PictureAnswer]]], places: Sequence[int]
) -> Iterator[list[PictureAnswer]]:
    """Yield the answers to pieces in the order of their `places`; those that come early wait."""
    waiting: dict[int, list[PictureAnswer]] = {}
    remaining = iter(places)
    expected = next(remaining, None)
    for place, answers in answered:
        waiting[place] = answers
        while expected in waiting:
            yield waiting.pop(expected)
            expected = next(remaining, None)
