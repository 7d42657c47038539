"""Figures of an evaluation, on answers that are counted by hand."""

import numpy as np
import pytest

from edged.evaluation.figures import PictureAnswer, answer_of, calibration_error, figures_of, interval, worst

UNREAD = PictureAnswer(problem="a.png is damaged", is_read=False)
NOT_FINITE = PictureAnswer(problem="1 of 3 outputs is NaN")


def test_the_rank_is_that_of_the_first_right_class_and_equal_scores_go_by_index() -> None:
    shares = np.array([0.1, 0.4, 0.4, 0.1], np.float32)

    assert answer_of(shares, (1,)) == PictureAnswer(best=1, score=float(shares[1]), rank=1)
    assert answer_of(shares, (3, 2)).rank == 2
    assert answer_of(shares, (3,)).rank == 4
    assert answer_of(shares, (4,)).rank == 0


def test_right_answers_are_counted_among_the_pictures_that_were_read() -> None:
    answers = [PictureAnswer(0, 0.9, 1), PictureAnswer(2, 0.8, 5), PictureAnswer(1, 0.7, 6), NOT_FINITE, UNREAD]

    figures = figures_of(answers, [(0,), (1,), (0,), (0,), (0,)])

    assert (figures.pictures, figures.unread, figures.not_finite) == (4, 1, 1)
    assert (figures.top1, figures.top5) == (1 / 4, 2 / 4)
    assert figures.confusion == {(0, 0): 1, (1, 2): 1, (0, 1): 1}
    assert figures.mean_score == pytest.approx(0.8)


def test_a_picture_with_several_right_classes_counts_for_the_one_that_was_answered() -> None:
    figures = figures_of([PictureAnswer(4, 0.9, 1), PictureAnswer(5, 0.9, 2)], [(3, 4), (3, 4)])

    assert figures.confusion == {(4, 4): 1, (3, 5): 1}


def test_the_calibration_error_is_the_weighted_gap_of_share_and_score() -> None:
    scores, right = [0.95, 0.95, 0.95, 0.95, 0.55, 0.55], [True, True, True, False, True, False]

    assert calibration_error(scores, right, bins=10) == pytest.approx((4 * 0.20 + 2 * 0.05) / 6)
    assert calibration_error([1.0, 1.0], [True, True]) == 0
    assert calibration_error([], []) == 0


def test_a_bin_ends_with_its_upper_limit() -> None:
    assert calibration_error([0.5, 0.51], [True, False], bins=2) == pytest.approx((0.5 + 0.51) / 2)
    assert calibration_error([0.4, 0.5], [True, False], bins=2) == pytest.approx(0.1 / 2)


def test_the_interval_is_wilsons() -> None:
    assert interval(14, 15) == pytest.approx((0.7018, 0.9881), abs=1e-4)
    assert interval(10, 10)[1] == pytest.approx(1)
    assert interval(0, 0) == (0, 1)


def test_the_worst_answers_are_wrong_with_the_highest_scores() -> None:
    answers = [PictureAnswer(0, 0.99, 1), PictureAnswer(1, 0.5, 2), UNREAD, PictureAnswer(2, 0.8, 3), NOT_FINITE]

    assert worst(answers, 2) == [3, 1]
    assert worst(answers, 9) == [3, 1, 4]
