from typing import get_args

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from edged.messages import Capture, FoundBox, boxes_of
from edged.messages.preparation import Resize
from edged.pictures.placement import Placement, Rectangle
from edged.pictures.prepare import (
    Pixels,
    Region,
    fitted,
    placement,
    prepare,
    region,
    region_of,
)
from tests.camera.pictures import plain
from tests.standard_recipe import centre_of

PICTURES = [(640, 360), (300, 501), (48, 31), (20, 30)]  # width and height: larger than the frames, and smaller
FRAMES = [(224, 224), (320, 192), (63, 96)]
MARKED = (0.42, 0.4, 0.55, 0.62)  # left, top, right, bottom as shares: what every kind of resize keeps


def marked(width: int, height: int, box: Region = MARKED) -> tuple[Pixels, NDArray[np.float32]]:
    """A dark picture with one bright rectangle, and the shares [1, 4] of it."""
    pixels = plain(30, width, height)
    left, top, right, bottom = (round(side * size) for side, size in zip(box, (width, height) * 2, strict=True))
    pixels[top:bottom, left:right] = 255
    return pixels, np.array([[left / width, top / height, right / width, bottom / height]], np.float32)


def bright_box(frame: Pixels) -> NDArray[np.float32]:
    """The bright rectangle of a frame in pixels, [1, 4]: brighter than gray, and nearer to white than to dark."""
    rows, columns = (np.flatnonzero((frame[..., 0] > 142).any(axis)) for axis in (1, 0))
    return np.array([[columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]], np.float32)


def test_a_picture_of_the_right_size_stays_as_it_is() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (120, 120, 3), np.uint8)

    assert np.array_equal(fitted(pixels, 120, 120), pixels)


@pytest.mark.parametrize("resize", get_args(Resize))
@pytest.mark.parametrize(("width", "height"), [(120, 120), (32, 48), (700, 300), (1, 1)])
@pytest.mark.parametrize("shape", [(480, 640, 3), (7, 300, 3), (1, 1, 3)])
def test_a_frame_has_the_size_asked_for_and_can_be_sent(
    resize: Resize, width: int, height: int, shape: tuple[int, int, int]
) -> None:
    frame = fitted(np.zeros(shape, np.uint8), width, height, resize=resize)

    assert frame.shape == (height, width, 3)
    assert frame.dtype == np.uint8
    assert frame.flags.c_contiguous


def test_shrinking_averages_all_that_a_pixel_stands_for() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    exact = cv2.resize(pixels.astype(np.float64), (120, 120), interpolation=cv2.INTER_AREA)

    frame = fitted(pixels, 120, 120)

    assert np.abs(frame - exact).mean() < 4  # of 256: single pixels would be about 60 away


def test_the_region_is_cut_by_shares() -> None:
    pixels = plain(0, 100, 80)
    pixels[20:40, 50:100] = 255

    frame = fitted(region(pixels, (0.5, 0.25, 1.0, 0.5)), 10, 10)

    assert (frame == 255).all()


def test_a_region_smaller_than_a_pixel_is_one_pixel() -> None:
    assert fitted(region(plain(7, 3, 3), (0.99, 0.99, 1.0, 1.0)), 4, 4).mean() == 7


def test_stretch_keeps_everything() -> None:
    pixels = plain(0, 100, 50)
    pixels[:, :50] = 200

    frame = fitted(pixels, 40, 40, resize="stretch")

    assert (frame[:, :20] == 200).all()
    assert (frame[:, 20:] == 0).all()


def test_crop_keeps_the_centre_in_its_proportions() -> None:
    pixels = plain(0, 100, 50)
    pixels[:, 25:75] = 200

    assert (fitted(pixels, 30, 30, resize="crop") == 200).all()


def test_pad_keeps_everything_in_its_proportions() -> None:
    frame = fitted(plain(200, 100, 50), 40, 40, resize="pad")

    assert (frame[10:30] == 200).all()
    assert (frame[:10] == 0).all()
    assert (frame[30:] == 0).all()


@pytest.mark.parametrize(
    ("width", "height", "rows", "columns"),
    [(100, 50, slice(10, 30), slice(0, 40)), (50, 100, slice(0, 40), slice(10, 30)),
     (8, 5, slice(7, 32), slice(0, 40)), (40, 40, slice(0, 40), slice(0, 40))],
)  # fmt: skip
def test_letterbox_has_gray_beside_the_centred_picture(
    width: int, height: int, rows: slice, columns: slice
) -> None:
    expected = plain(114, 40, 40)
    expected[rows, columns] = 200

    assert np.array_equal(fitted(plain(200, width, height), 40, 40, resize="letterbox"), expected)


@pytest.mark.parametrize(
    ("width", "height", "inner_width", "inner_height"),
    [(100, 50, 40, 20), (50, 100, 20, 40), (8, 5, 40, 25), (40, 40, 40, 40)],
)
def test_corner_has_gray_at_the_right_or_below(
    width: int, height: int, inner_width: int, inner_height: int
) -> None:
    expected = plain(114, 40, 40)
    expected[:inner_height, :inner_width] = 200

    assert np.array_equal(fitted(plain(200, width, height), 40, 40, resize="corner"), expected)


def test_shrinking_averages() -> None:
    pixels = plain(0, 200, 200)
    pixels[::2] = 254  # lines that picking single pixels would turn into moiré

    assert np.ptp(fitted(pixels, 50, 50)) == 0
    assert fitted(pixels, 50, 50).mean() == pytest.approx(127, abs=1)


@pytest.mark.deep
@pytest.mark.parametrize(
    "shape", [(480, 640, 3), (375, 500, 3), (333, 221, 3), (97, 401, 3), (224, 224, 3), (1, 9, 3)]
)
@pytest.mark.parametrize("side", [224, 32])
def test_center_crop_is_the_usual_preparation_of_imagenet(shape: tuple[int, int, int], side: int) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    pixels = np.asarray(cv2.GaussianBlur(pixels, (0, 0), 1.5), np.uint8)  # as a photo: neighbours are alike

    frame = fitted(pixels, side, side, resize="center-crop")

    difference = np.abs(frame.astype(int) - centre_of(pixels, side))
    assert difference.max() <= 1  # float32 rounds the other way here and there
    assert (difference > 0).mean() < 0.02


def test_center_crop_fills_an_input_that_is_no_square() -> None:
    pixels = plain(0, 640, 480)
    pixels[30:450, :] = 200  # 256/224 of the input's height are kept: 7/8 of the picture's

    frame = fitted(pixels, 100, 50, resize="center-crop")

    assert frame.shape == (50, 100, 3)
    assert (frame == 200).all()


def test_the_region_comes_before_the_resize() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (100, 200, 3), np.uint8)

    frame = fitted(region(pixels, (0.5, 0.0, 1.0, 1.0)), 32, 32, resize="center-crop")

    assert np.array_equal(frame, fitted(pixels[:, 100:].copy(), 32, 32, resize="center-crop"))


@pytest.mark.parametrize("resize", get_args(Resize))
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("picture", PICTURES)
def test_a_box_of_the_frame_is_found_in_the_picture(
    picture: tuple[int, int], frame: tuple[int, int], resize: Resize
) -> None:
    pixels, expected = marked(*picture)
    size = Capture(width=frame[0], height=frame[1], resize=resize)

    placed = placement(*picture, size)
    shares = placed.shares(bright_box(prepare(pixels, size)))

    assert shares.dtype == np.float32
    away = (shares - expected) * (placed.width, placed.height, placed.width, placed.height)
    assert np.abs(away).max() <= 1  # pixels of the frame


@pytest.mark.parametrize(
    ("resize", "expected"),
    [("stretch", Placement(0, 0, 224, 224)), ("crop", Placement(-112, 0, 448, 224)),
     ("pad", Placement(0, 56, 224, 112)), ("center-crop", Placement(-144, -16, 512, 256)),
     ("letterbox", Placement(0, 56, 224, 112)), ("corner", Placement(0, 0, 224, 112))],
)  # fmt: skip
def test_a_picture_that_is_cut_reaches_beyond_its_frame(resize: Resize, expected: Placement) -> None:
    assert placement(640, 320, Capture(width=224, height=224, resize=resize)) == expected


def test_boxes_end_at_the_edges_of_the_picture() -> None:
    placed = placement(100, 50, Capture(width=40, height=40, resize="letterbox"))  # at rows 10 … 30

    shares = placed.shares(np.array([[-5, 5, 50, 40], [10, 0, 20, 10], [10, 15, 20, 25]], np.float32))

    expected = [[0, 0, 1, 1], [0.25, 0, 0.5, 0], [0.25, 0.25, 0.5, 0.75]]
    assert np.array_equal(shares, np.array(expected, np.float32))


def test_a_picture_without_boxes() -> None:
    none = np.zeros((0, 4), np.float32)

    shares = placement(100, 50, Capture(width=40, height=40)).shares(none)

    assert shares.shape == (0, 4)


@pytest.mark.parametrize("resize", get_args(Resize))
@pytest.mark.parametrize("picture", [(640, 359), (301, 500)])
def test_a_box_of_a_region_is_found_in_the_whole_picture(picture: tuple[int, int], resize: Resize) -> None:
    pixels, expected = marked(*picture)
    roi, size = (0.21, 0.099, 0.77, 0.93), Capture(width=160, height=160, resize=resize)

    part = region_of(roi, *picture)
    placed = placement(part.width, part.height, size)
    shares = placed.shares(bright_box(prepare(region(pixels, roi), size)))

    found = FoundBox(index=0, score=1, box=tuple(shares[0].tolist()))
    (whole,) = boxes_of([found], ("thing",), part.shares(*picture))
    away = (np.array(whole.box) - expected) * (*picture, *picture)
    scale = max(part.width / placed.width, part.height / placed.height)
    assert np.abs(away).max() <= scale  # a pixel of the frame, in pixels of the picture


def test_a_region_is_cut_at_whole_pixels() -> None:
    roi = (0.26, 0.5, 0.74, 0.5)  # pixels 2.6 … 7.4 of the width; none of the height, which becomes one

    assert region_of(roi, 10, 4) == Rectangle(left=3, top=2, width=4, height=1)
    assert region_of(roi, 10, 4).shares(10, 4) == (0.3, 0.5, 0.7, 0.75)
    assert region_of((0, 0, 1, 1), 10, 4).shares(10, 4) is None
