"""Printed digits."""

import numpy as np
import pytest

from edged.camera.sources.synthetic import draw_glyph


@pytest.mark.parametrize("digit", range(10))
def test_a_glyph_is_ink_that_reaches_every_side(digit: int) -> None:
    rng = np.random.default_rng(digit)
    for _ in range(50):
        mask = draw_glyph(rng, digit)
        assert mask.dtype == np.uint8
        assert mask.shape[0] == 256
        assert 0.08 < (mask > 128).mean() < 0.8
        assert all(mask[rows].max() > 60 for rows in (np.s_[:2], np.s_[-2:], np.s_[:, :2], np.s_[:, -2:]))


def test_the_same_generator_draws_the_same_glyph() -> None:
    assert np.array_equal(draw_glyph(np.random.default_rng(3), 5), draw_glyph(np.random.default_rng(3), 5))
