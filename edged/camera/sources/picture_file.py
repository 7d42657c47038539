"""Read a picture from a file or a stream of JPEGs: whole and of an acceptable size, or not at all."""

from pathlib import Path

import cv2
import numpy as np

from edged.camera.sources.picture_header import FORMATS, size_of
from edged.camera.sources.source import Pixels
from edged.errors import ImageError
from edged.system.regular_file import read_regular_file

MOST_BYTES = 2**28
MOST_PIXELS = 2**26  # 200 MB as RGB


def read_picture(path: Path) -> Pixels:
    """Return the picture in a file as uint8 [H, W, 3] RGB, turned upright by its EXIF. Raises ImageError."""
    try:
        content = read_regular_file(path, MOST_BYTES)
    except FileNotFoundError:
        raise ImageError(f"{path} does not exist") from None
    except OSError as error:
        raise ImageError(f"{path} cannot be read: {error.strerror}") from None
    return decode_picture(content, str(path))


def decode_picture(content: bytes, name: str) -> Pixels:
    """Return the picture in `content` as uint8 [H, W, 3] RGB, turned upright by its EXIF. Raises ImageError."""
    try:
        size = size_of(content)
    except ValueError as error:
        raise ImageError(f"{name} {error}") from None
    if size is None:
        raise ImageError(f"{name} is no picture that can be read: expected {FORMATS}")
    if size[0] * size[1] > MOST_PIXELS:
        most = f"{MOST_PIXELS // 10**6} million"
        raise ImageError(f"{name} has {size[0]}×{size[1]} pixels; up to {most} are supported")
    try:
        pixels = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        pixels = None
    if pixels is None:
        raise ImageError(f"{name} is damaged or cut short")
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB, pixels), np.uint8)  # in place
