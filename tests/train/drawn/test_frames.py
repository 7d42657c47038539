"""The frames that the model digits is trained on and measured with."""

import numpy as np

from edged.train.drawn.ahead import draw_frame, draw_training_frame, empty_frames, placed
from edged.train.drawn.handwriting import plain_mask, varied_mask

SEVEN = np.zeros((28, 28), np.uint8)
SEVEN[5:8, 8:20] = 255
for row in range(8, 24):
    SEVEN[row, 24 - row // 2 - 8 : 27 - row // 2 - 8] = 255


def test_a_plain_digit_is_cut_to_its_ink() -> None:
    mask = plain_mask(SEVEN)
    assert 70 <= mask.shape[0] <= 84
    assert mask.max() == 255


def test_varied_writing_differs_each_time_and_keeps_ink() -> None:
    rng = np.random.default_rng(1)
    masks = [varied_mask(rng, SEVEN, 7) for _ in range(50)]
    assert len({mask.tobytes() for mask in masks}) > 25
    assert all(0.04 < (mask > 128).mean() < 0.9 for mask in masks)


def test_frames_have_the_shape_of_the_networks_input_and_repeat() -> None:
    one, two = (draw_training_frame(np.random.default_rng(2), SEVEN, 7) for _ in range(2))
    assert one.shape == (120, 120, 3)
    assert np.array_equal(one, two)
    assert draw_frame(np.random.default_rng(2), None).dtype == np.uint8


def test_what_is_measured_with_is_the_same_at_each_call() -> None:
    assert empty_frames(5).shape == (5, 120, 120, 3)
    assert np.array_equal(placed(np.stack([SEVEN] * 2)), placed(np.stack([SEVEN] * 2)))
