"""Scenes: what is in them, and that a person can read them."""

import numpy as np
import pytest

from edged.camera.sources.synthetic import draw_glyph
from edged.drawing.scene import LUMA, Digit, Pixels, Scene, compose, render


def scene_of(seed: int, width: int = 160, height: int = 120) -> tuple[Scene, Digit]:
    rng = np.random.default_rng(seed)
    scene = compose(rng, width, height, draw_glyph(rng, seed % 10))
    assert scene.digit
    return scene, scene.digit


def luma(picture: Pixels) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(picture @ np.array(LUMA))


@pytest.mark.parametrize(("width", "height"), [(160, 120), (120, 120), (213, 120), (90, 160)])
def test_a_digit_stays_wholly_within_the_frame_while_it_moves(width: int, height: int) -> None:
    for seed in range(100):
        _, digit = scene_of(seed, width, height)
        assert digit.quads.min() >= 0
        assert (digit.quads <= (width, height)).all()
        assert not np.array_equal(digit.quads[0], digit.quads[1])


def test_a_digit_is_a_third_of_the_frame_high_at_least() -> None:
    for seed in range(100):
        _, digit = scene_of(seed)
        sides = np.linalg.norm(digit.quads - np.roll(digit.quads, 1, axis=1), axis=2)
        assert sides.max() > 120 / 3


def test_ink_differs_from_everything_behind_it() -> None:
    for seed in range(100):
        scene, digit = scene_of(seed)
        gap = luma(digit.ink) - luma(scene.background)
        assert np.abs(gap).min() > 20
        assert (gap > 0).all() or (gap < 0).all()


def test_the_digit_changes_the_frame_where_it_is_and_nowhere_else() -> None:
    scene, digit = scene_of(7)
    empty = Scene(scene.background, np.zeros_like(scene.noise), None)
    full = Scene(scene.background, np.zeros_like(scene.noise), digit)
    rng = np.random.default_rng(0)
    changed = (render(rng, full, 0) != render(rng, empty, 0)).any(2)
    rows, columns = np.nonzero(changed)
    reach = 3 * digit.blur + len(digit.smear) + 1
    assert 0.01 < changed.mean() < 0.5
    assert columns.min() >= digit.quads[0, :, 0].min() - reach
    assert rows.max() <= digit.quads[0, :, 1].max() + reach


def test_frames_of_one_scene_differ_by_noise_and_motion_only() -> None:
    scene, _ = scene_of(4)
    first, second = (render(np.random.default_rng(seed), scene, 0.5).astype(int) for seed in (1, 2))
    assert first.shape == (120, 160, 3)
    assert 0 < np.abs(first - second).mean() < 20


def test_the_same_generator_composes_and_renders_the_same_frame() -> None:
    frames = []
    for _ in range(2):
        rng = np.random.default_rng(11)
        frames.append(render(rng, compose(rng, 160, 120, draw_glyph(rng, 3)), 0.3))
    assert np.array_equal(frames[0], frames[1])


def test_a_scene_without_a_digit_is_its_backdrop() -> None:
    rng = np.random.default_rng(5)
    scene = compose(rng, 64, 48, None)
    quiet = Scene(scene.background, np.zeros_like(scene.noise), None)
    assert scene.digit is None
    assert np.array_equal(render(rng, quiet, 0.5), scene.background)
