"""What all sources that read through OpenCV's VideoCapture share."""

import cv2
import numpy as np

from edged.camera.sources.picture_file import decode_picture
from edged.camera.sources.source import Pixels

MOTION_JPEG = cv2.VideoWriter.fourcc(*"MJPG")


def picture_of(capture: cv2.VideoCapture) -> Pixels | None:
    """Return the next picture as uint8 [H, W, 3] RGB, or None (end, failure, nothing decoded)."""
    good, pixels = capture.read()
    if not good or pixels is None or pixels.size == 0:
        return None
    how = cv2.COLOR_GRAY2RGB if pixels.ndim == 2 or pixels.shape[2] == 1 else cv2.COLOR_BGR2RGB
    return np.asarray(cv2.cvtColor(pixels, how), np.uint8)


def keep_jpegs_encoded(capture: cv2.VideoCapture) -> bool:
    """Configure a Motion JPEG capture through FFmpeg to return undecoded JPEGs; False for another format.

    FFmpeg completes a truncated one from the picture before, without an error.
    """
    return int(capture.get(cv2.CAP_PROP_FOURCC)) == MOTION_JPEG and capture.set(cv2.CAP_PROP_FORMAT, -1)


def decoded_jpeg(capture: cv2.VideoCapture, name: str) -> Pixels | None:
    """Read like `picture_of`, after `keep_jpegs_encoded`.

    Raises ImageError, with the name, for a truncated picture.
    """
    good, content = capture.read()
    if not good or content is None or content.size == 0:
        return None
    return decode_picture(content.tobytes(), name)
