from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.errors import ImageError
from edged.pictures.decode import read_picture
from edged.pictures.draw import COLORS, SUFFIXES, DrawnBox, draw_boxes, write_picture
from edged.pictures.prepare import Pixels
from tests.camera.pictures import plain

BACKGROUND = 60
HALF = (0.25, 0.25, 0.75, 0.75)


def changed(drawn: Pixels) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of all that is drawn into a plain picture, in pixels."""
    rows, columns = (np.flatnonzero((drawn != BACKGROUND).any(axis=(axis, 2))) for axis in (1, 0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def letters_in(drawn: Pixels, index: int) -> NDArray[np.bool_]:
    """Where letters of captions are: neither background nor colour of the class."""
    return np.asarray((drawn != BACKGROUND).any(axis=2) & (drawn != COLORS[index]).any(axis=2))


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The contrast of two colours as WCAG 2 defines it: 1 … 21."""
    shares = np.array([one, other]) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    low, high = sorted(linear @ (0.2126, 0.7152, 0.0722))
    return float((high + 0.05) / (low + 0.05))


def test_an_outline_has_the_colour_of_its_class_and_leaves_the_rest() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    before = picture.copy()

    drawn = draw_boxes(picture, [DrawnBox("", 3, HALF)])

    expected = picture.copy()
    expected[120:360, 160:480] = COLORS[3]
    expected[122:358, 162:478] = picture[122:358, 162:478]
    assert np.array_equal(drawn, expected)
    assert np.array_equal(picture, before)


def test_lines_and_letters_grow_with_the_picture() -> None:
    small, large = (draw_boxes(plain(BACKGROUND, 640 * k, 480 * k), [DrawnBox("cat", 0, HALF)]) for k in (1, 3))

    assert (small[300, 160:480] != BACKGROUND).all(axis=1).sum() == 2 * 2
    assert (large[900, 480:1440] != BACKGROUND).all(axis=1).sum() == 2 * 6
    heights = 120 - changed(small)[1], 360 - changed(large)[1]
    assert heights[1] / heights[0] == pytest.approx(3, rel=0.2)


@pytest.mark.parametrize(
    "box",
    [(0.0, 0.0, 1.0, 1.0), (-0.5, -0.5, 1.5, 1.5), (0.99, 0.99, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0),
     (0.0, 0.5, 0.0, 0.5)],
)  # fmt: skip
def test_a_box_at_the_border_is_drawn_within_the_picture(box: tuple[float, float, float, float]) -> None:
    drawn = draw_boxes(plain(BACKGROUND, 200, 100), [DrawnBox("", 1, box)])

    left, top = (min(max(round(share * size), 0), size - 1) for share, size in zip(box, (200, 100), strict=False))
    assert tuple(drawn[top, left]) == COLORS[1]


def test_a_caption_stands_above_its_box() -> None:
    drawn = draw_boxes(plain(BACKGROUND, 640, 480), [DrawnBox("cat 0.97", 0, HALF)])

    left, top, right, bottom = changed(drawn)
    assert (left, right, bottom) == (160, 480, 360)
    assert top < 110
    assert tuple(drawn[top, left]) == COLORS[0]
    assert (drawn[top:120, 160:260] < 60).all(axis=2).any()  # black letters on this colour


@pytest.mark.parametrize(
    "box", [(0.1, 0.0, 0.9, 0.9), (0.97, 0.3, 1.0, 0.6), (0.0, 0.0, 0.01, 0.01), (0.99, 0.99, 1.0, 1.0)]
)
def test_a_caption_stays_within_the_picture(box: tuple[float, float, float, float]) -> None:
    """Not a pixel of it is lost: it is as large as that of a box in the middle."""
    usual, drawn = (
        draw_boxes(plain(BACKGROUND, 320, 240), [DrawnBox("traffic light 0.97", 5, each)]) for each in (HALF, box)
    )

    assert letters_in(drawn, 5).sum() == letters_in(usual, 5).sum() > 100


def test_a_caption_that_is_wider_than_the_picture_is_smaller() -> None:
    drawn = draw_boxes(plain(BACKGROUND, 80, 60), [DrawnBox("a traffic light", 5, (0.0, 0.5, 1.0, 1.0))])

    columns = np.flatnonzero(letters_in(drawn, 5).any(axis=0))
    assert 0 < columns[0] < columns[-1] < 79


def test_letters_that_are_not_in_ascii_become_question_marks() -> None:
    captions = "Tür 0.9\t日本", "T?r 0.9???"
    one, other = (draw_boxes(plain(BACKGROUND, 320, 240), [DrawnBox(each, 2, HALF)]) for each in captions)

    assert np.array_equal(one, other)


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 300), (300, 1), (5, 5)])
def test_the_smallest_pictures_are_drawn_into(width: int, height: int) -> None:
    drawn = draw_boxes(plain(BACKGROUND, width, height), [DrawnBox("cat 0.97", 7, (0.0, 0.0, 1.0, 1.0))])

    assert drawn.shape == (height, width, 3)
    assert tuple(drawn[-1, -1]) == COLORS[7]


def test_colours_are_far_from_black_and_white_and_from_each_other() -> None:
    assert all(contrast(color, (ink,) * 3) >= 3 for color in COLORS for ink in (0, 255))
    distances = np.linalg.norm(np.array(COLORS)[:, np.newaxis] - np.array(COLORS), axis=2)
    assert distances[~np.eye(len(COLORS), dtype=bool)].min() > 60


@pytest.mark.parametrize("index", range(2 * len(COLORS)))
def test_letters_are_black_or_white_whichever_is_clearer(index: int) -> None:
    drawn = draw_boxes(plain(BACKGROUND, 640, 480), [DrawnBox("HHH", index, (0.25, 0.5, 0.75, 0.75))])

    color = COLORS[index % len(COLORS)]
    ink = max((0, 255), key=lambda level: contrast(color, (level,) * 3))
    assert (drawn[200:240, 160:240] == ink).all(axis=2).any()
    assert not (drawn[200:240, 160:240] == 255 - ink).all(axis=2).any()


def test_the_box_that_comes_last_is_on_top_and_captions_are_above_lines() -> None:
    first, last = DrawnBox("a long caption 0.97", 0, HALF), DrawnBox("", 1, (0.3, 0.0, 0.9, 0.75))

    drawn = draw_boxes(plain(BACKGROUND, 640, 480), [first, last])

    assert tuple(drawn[359, 300]) == COLORS[1]
    assert tuple(drawn[118, 192]) != COLORS[1]


def test_a_png_is_what_was_written(tmp_path: Path) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)

    write_picture(tmp_path / "a.PNG", picture)

    assert np.array_equal(read_picture(tmp_path / "a.PNG"), picture)
    assert [path.name for path in tmp_path.iterdir()] == ["a.PNG"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_keeps_the_colours(tmp_path: Path, suffix: str) -> None:
    picture = plain(0, 64, 48)
    picture[:] = 200, 100, 50

    write_picture(tmp_path / f"a{suffix}", picture)

    assert np.abs(read_picture(tmp_path / f"a{suffix}").astype(int) - picture).max() <= 3


@pytest.mark.parametrize("name", ["a.gif", "a", ".png"])
def test_a_name_without_a_known_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ImageError, match=rf"{name}: .* expected a name with \.jpg, \.jpeg, \.png, \.webp"):
        write_picture(tmp_path / name, plain(0))

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"absent/a\.png: cannot be written: No such file or directory"):
        write_picture(tmp_path / "absent/a.png", plain(0))


def test_a_picture_that_is_too_large_for_its_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"a\.webp: a picture of 16384×1 pixels is too large .* use \.png"):
        write_picture(tmp_path / "a.webp", plain(0, 16384, 1))
