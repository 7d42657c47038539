"""Pictures of 16 bits, and with alpha: the same numbers from every format."""

from typing import Literal

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from edged.errors import ImageError
from edged.pictures.decode import decode_picture
from tests.pictures.tiff_files import ALPHA, MULTIPLIED, UNSPECIFIED, tiff_of
from tests.standard_recipe import of_16_bits, without_alpha

EDGES = [0, 1, 127, 128, 129, 255, 256, 257, 385, 386, 32767, 32768, 65279, 65406, 65407, 65535]
GRAY = np.array([EDGES], np.uint16)
COLOURS = np.stack([GRAY, GRAY[:, ::-1], GRAY // 3], axis=2)  # red, green, blue
FOUR = np.array([[[200, 100, 50, 255], [200, 100, 50, 30], [20, 10, 5, 30], [0, 0, 0, 0]]], np.uint8)


def three(gray: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.repeat(gray[..., np.newaxis], 3, axis=2)


@pytest.mark.parametrize("suffix", [".png", ".tiff", ".pgm"])
def test_gray_of_16_bits_is_divided_by_257_and_rounded(suffix: str) -> None:
    content = cv2.imencode(suffix, GRAY)[1].tobytes()

    assert np.array_equal(decode_picture(content, "a"), three(of_16_bits(GRAY)))


@pytest.mark.parametrize("suffix", [".png", ".tiff", ".ppm"])
def test_colours_of_16_bits_are_divided_by_257_and_rounded(suffix: str) -> None:
    content = cv2.imencode(suffix, np.ascontiguousarray(COLOURS[..., ::-1]))[1].tobytes()

    assert np.array_equal(decode_picture(content, "a"), of_16_bits(COLOURS))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"P5 3 1 1023\n" + np.array([0, 512, 1023], ">u2").tobytes(), [0, 128, 255]),
        (b"P2 # of 12 bits\n3 1\n4095\n0 2048 4095\n", [0, 128, 255]),
        (b"P5 3 1 300\n" + np.array([0, 150, 400], ">u2").tobytes(), [0, 128, 255]),
        (b"P5 3 1 100\n" + bytes([0, 50, 100]), [0, 128, 255]),
        (b"P5 3 1 255\n" + bytes([0, 50, 100]), [0, 50, 100]),
        (b"P2 3 1 15\n0 8 15\n", [0, 136, 255]),
    ],
)
def test_the_largest_number_that_a_pgm_names_is_white(content: bytes, expected: list[int]) -> None:
    assert decode_picture(content, "a")[0, :, 0].tolist() == expected


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("extra", [ALPHA, UNSPECIFIED])
def test_alpha_of_a_tiff_is_ignored_as_that_of_a_png_and_a_webp_is(extra: int, order: Literal["<", ">"]) -> None:
    expected = without_alpha(FOUR)
    reordered = np.ascontiguousarray(FOUR[..., [2, 1, 0, 3]])

    assert np.array_equal(decode_picture(tiff_of(FOUR, extra, order), "a"), expected)
    assert np.array_equal(decode_picture(cv2.imencode(".png", reordered)[1].tobytes(), "a"), expected)
    webp = cv2.imencode(".webp", reordered, [cv2.IMWRITE_WEBP_QUALITY, 101])[1].tobytes()
    assert np.array_equal(
        decode_picture(webp, "a")[0, :3], expected[0, :3]
    )  # without colours where nothing is seen


def test_alpha_of_16_bits_is_ignored() -> None:
    four = FOUR.astype(np.uint16) * 257
    png = cv2.imencode(".png", np.ascontiguousarray(four[..., [2, 1, 0, 3]]))[1].tobytes()

    assert np.array_equal(decode_picture(tiff_of(four, ALPHA), "a"), without_alpha(FOUR))
    assert np.array_equal(decode_picture(png, "a"), without_alpha(FOUR))


def test_colours_that_are_multiplied_by_alpha_are_divided_by_it() -> None:
    expected = without_alpha(FOUR, is_multiplied=True)
    assert expected[0, 2].tolist() == [170, 85, 42]

    assert np.array_equal(decode_picture(tiff_of(FOUR, MULTIPLIED), "a"), expected)
    of_16 = decode_picture(tiff_of(FOUR.astype(np.uint16) * 257, MULTIPLIED), "a")
    assert np.abs(of_16.astype(int) - expected).max() <= 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 2, 3), np.float32), "holds numbers of type float32; supported are those of 8 or 16 bits"),
        (np.zeros((2, 2, 1), np.float32), "holds numbers of type float32"),
        (np.zeros((2, 2, 3), np.int16), "holds numbers of type int16"),
        (np.zeros((2, 2, 1), np.int32), "holds numbers of type int32"),
    ],
)
def test_numbers_that_are_no_pixels_are_refused(values: NDArray[np.generic], message: str) -> None:
    with pytest.raises(ImageError, match=f"^a {message}"):
        decode_picture(tiff_of(values), "a")


def test_gray_multiplied_by_alpha_is_refused() -> None:
    with pytest.raises(ImageError, match="has gray that is multiplied by alpha: save it without alpha"):
        decode_picture(tiff_of(np.full((2, 2, 2), 100, np.uint8), MULTIPLIED), "a")
