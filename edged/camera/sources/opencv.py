"""What the sources that read through OpenCV's VideoCapture have in common."""

import cv2
import numpy as np

from edged.camera.sources.picture import Pixels


def picture_of(capture: cv2.VideoCapture) -> Pixels | None:
    """The next picture as uint8 [H, W, 3] RGB, or None where there is none (end, failure, nothing decoded)."""
    good, pixels = capture.read()
    if not good or pixels is None or pixels.size == 0:
        return None
    how = cv2.COLOR_GRAY2RGB if pixels.ndim == 2 or pixels.shape[2] == 1 else cv2.COLOR_BGR2RGB
    return np.asarray(cv2.cvtColor(pixels, how), np.uint8)
