"""Pieces of labelled pictures, and answers that come in any order."""

from pathlib import Path

import pytest

from edged.evaluation.evaluate import in_order, pieces_of
from edged.evaluation.figures import PictureAnswer
from edged.evaluation.pictures import PictureFile

PICTURES = [PictureFile(Path(f"{number}.png"), (0,)) for number in range(100)]


@pytest.mark.parametrize(("batch", "sizes"), [(1, [64, 36]), (24, [48, 48, 4]), (100, [100])])
def test_pieces_hold_whole_jobs_and_every_picture_once(batch: int, sizes: list[int]) -> None:
    pieces = dict(pieces_of(PICTURES, batch))

    assert [len(piece) for piece in pieces.values()] == sizes
    assert [each for piece in pieces.values() for each in piece] == PICTURES
    assert all(piece[0] == PICTURES[place] for place, piece in pieces.items())


def test_answers_that_come_early_wait_for_those_before_them() -> None:
    answers = {place: [PictureAnswer(best=place)] for place in (0, 64, 128)}

    found = in_order(((place, answers[place]) for place in (64, 0, 128)), list(answers))

    assert list(found) == list(answers.values())
