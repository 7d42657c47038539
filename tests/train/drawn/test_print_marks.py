"""The marks of print that handwriting gets for training."""

import cv2
import numpy as np
import pytest

from edged.train.drawn.handwriting import add_print_marks


@pytest.mark.parametrize("digit", [1, 3, 4, 6, 7, 9])
def test_a_digit_that_print_marks_gets_more_ink_often_and_never_loses_any(digit: int) -> None:
    rng = np.random.default_rng(1)
    stroke = np.asarray(cv2.line(np.zeros((136, 136), np.uint8), (80, 30), (50, 110), (1,), 9), np.uint8)
    marked = [stroke.copy() for _ in range(60)]
    for ink in marked:
        add_print_marks(rng, ink, digit, pen=9)
    assert sum(bool((ink > stroke).any()) for ink in marked) >= 10
    assert all((ink >= stroke).all() and ink.max() == 1 for ink in marked)


@pytest.mark.parametrize("digit", [0, 2, 5, 8])
def test_other_digits_stay_as_they_are(digit: int) -> None:
    ink = np.zeros((50, 50), np.uint8)
    ink[10:40, 20:25] = 1
    before = ink.copy()
    for seed in range(20):
        add_print_marks(np.random.default_rng(seed), ink, digit, pen=4)
    assert np.array_equal(ink, before)


def test_a_mask_without_ink_stays_empty() -> None:
    ink = np.zeros((20, 20), np.uint8)
    for seed in range(5):
        add_print_marks(np.random.default_rng(seed), ink, 1, pen=3)
    assert not ink.any()
