"""The synthetic camera."""

from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest

from edged import config
from edged.camera.sources import open_source
from edged.camera.sources.source import Picture
from edged.camera.sources.synthetic import SHAPES, Synthetic, draw_glyph, draw_pictures
from edged.clock import now_ns, seconds_since
from edged.errors import CameraError


def pictures(seed: int, count: int, fps: float = 30, subject: str = "digits") -> list[Picture]:
    return list(islice(draw_pictures(seed, 64, 48, fps, subject), count))


def same(left: list[Picture], right: list[Picture]) -> bool:
    pairs = zip(left, right, strict=True)
    return all(a.truth == b.truth and np.array_equal(a.pixels, b.pixels) for a, b in pairs)


def test_the_same_seed_draws_the_same_pictures_and_another_seed_others() -> None:
    assert same(pictures(1, 60), pictures(1, 60))
    assert not same(pictures(1, 60), pictures(2, 60))


@pytest.mark.deep
def test_every_digit_and_nothing_come_about_as_often_as_they_should() -> None:
    # at one picture a second every picture is a new scene
    counts = Counter(picture.truth for picture in pictures(1, 3000, fps=1))
    assert set(counts) == {*"0123456789", "nothing"}
    assert 300 < counts.pop("nothing") < 450
    assert all(200 < count < 330 for count in counts.values())


def test_a_digit_stays_for_a_while_and_moves() -> None:
    drawn = pictures(3, 300)
    changes = sum(a.truth != b.truth for a, b in pairwise(drawn))
    assert 8 <= changes <= 25
    assert all(not np.array_equal(a.pixels, b.pixels) for a, b in pairwise(drawn))


def test_it_begins_again_when_it_is_opened_again() -> None:
    camera = Synthetic(64, 48, fps=1000, seed=5)
    drawn = []
    for _ in range(2):
        camera.open()
        drawn.append([camera.read() for _ in range(20)])
        camera.close()
    assert same(*drawn)


def test_it_keeps_its_rate() -> None:
    camera = Synthetic(64, 48, fps=50, seed=1)
    camera.open()
    start = now_ns()
    for _ in range(11):
        camera.read()
    assert seconds_since(start) >= 10 / 50


def test_a_size_at_which_no_digit_can_be_read_is_refused() -> None:
    with pytest.raises(CameraError, match="16×12 pixels is too small"):
        Synthetic(16, 12, fps=30, seed=1).open()


def test_the_config_names_it_and_its_usual_size_is_640_by_480() -> None:
    source = open_source(config.CameraConfig(source="synthetic:digits"))
    source.open()
    picture = source.read()
    assert picture
    assert picture.pixels.shape == (480, 640, 3)
    assert picture.pixels.dtype == np.uint8


def test_shapes_come_about_as_often_each_or_one_alone() -> None:
    counts = Counter(picture.truth for picture in pictures(1, 500, fps=1, subject="shapes"))
    assert set(counts) == set(SHAPES)
    assert all(60 < count < 140 for count in counts.values())
    assert {picture.truth for picture in pictures(1, 50, fps=1, subject="ring")} == {"ring"}


def test_what_the_config_may_name_can_be_drawn() -> None:
    assert set(config.SYNTHETIC) == {"digits", "shapes", *SHAPES}
    for subject in config.SYNTHETIC:
        source = open_source(config.CameraConfig(source=f"synthetic:{subject}", size=(64, 48)))
        source.open()
        assert source.read() is not None


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
