"""JPEGs of a camera, decoded when their pixels are needed."""

import cv2
import pytest

from edged.camera.sources.jpeg_decoder import JpegDecoder
from edged.errors import CameraError, ImageError
from tests.camera.pictures import plain

WHOLE = cv2.imencode(".jpg", plain(120, 64, 48))[1].tobytes()
TRUNCATED = WHOLE[: len(WHOLE) // 2]


def test_a_truncated_picture_is_an_error_of_its_pixels_alone() -> None:
    decoder = JpegDecoder("the camera")
    picture = decoder.picture(TRUNCATED, 60)
    with pytest.raises(ImageError, match="a picture of the camera is cut short"):
        _ = picture.pixels
    assert decoder.picture(WHOLE, 60).pixels.shape == (48, 64, 3)


def test_a_camera_whose_pictures_have_been_truncated_for_too_long_has_failed() -> None:
    decoder = JpegDecoder("the camera")
    with pytest.raises(ImageError):
        _ = decoder.picture(TRUNCATED, 60).pixels
    with pytest.raises(CameraError, match="sends no complete picture any more"):
        _ = decoder.picture(TRUNCATED, 0).pixels


def test_a_whole_picture_begins_the_time_anew() -> None:
    decoder = JpegDecoder("the camera")
    with pytest.raises(ImageError):
        _ = decoder.picture(TRUNCATED, 60).pixels
    assert decoder.picture(WHOLE, 0).pixels.size
    with pytest.raises(ImageError):
        _ = decoder.picture(TRUNCATED, 1e-3).pixels
