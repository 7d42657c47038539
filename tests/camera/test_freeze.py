"""Pictures that stay the same, and pictures that only seem to."""

import numpy as np

from edged.camera.gate import Freeze
from edged.clock import NANOSECONDS
from tests.camera.pictures import plain


def test_the_same_picture_is_frozen_after_so_many_seconds_and_no_more_with_the_next() -> None:
    freeze = Freeze(10)

    seen = [freeze.frozen(plain(90), second * NANOSECONDS) for second in range(12)]

    assert seen == [False] * 10 + [True] * 2
    assert not freeze.frozen(plain(91), 12 * NANOSECONDS)


def test_a_still_scene_whose_noise_moves_is_not_frozen() -> None:
    freeze, rng = Freeze(10), np.random.default_rng(1)
    for second in range(100):
        noise = rng.integers(0, 2, plain(90).shape, np.uint8)
        assert not freeze.frozen(plain(90) + noise, second * NANOSECONDS)


def test_zero_switches_it_off() -> None:
    freeze = Freeze(0)

    assert not any(freeze.frozen(plain(90), second * NANOSECONDS) for second in range(100))
