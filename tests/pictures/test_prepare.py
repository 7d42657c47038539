import cv2
import numpy as np
import pytest

from edged.messages.preparation import Resize
from edged.pictures.prepare import fitted, region
from tests.camera.pictures import plain
from tests.standard_recipe import centre_of


def test_a_picture_of_the_right_size_stays_as_it_is() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (120, 120, 3), np.uint8)

    assert np.array_equal(fitted(pixels, 120, 120), pixels)


@pytest.mark.parametrize("resize", ["stretch", "crop", "pad", "center-crop"])
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
