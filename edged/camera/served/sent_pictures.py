"""Pictures that programs send over HTTP, and what was found in them."""

from dataclasses import dataclass

import numpy as np

from edged.camera.served.endpoint import FittedPicture
from edged.camera.served.refusals import RefusedRequestError
from edged.errors import ImageError
from edged.messages import Box, Capture, FrameAnswer
from edged.pictures.decode import decode_picture
from edged.pictures.prepare import Pixels, fitted, shown

MOST_PIXELS = 2**24  # 50 MB as RGB; decoding them takes a tenth of the time in which the hub expects to hear of us
ALL = (0.0, 0.0, 1.0, 1.0)

SentPicture = bytes | Pixels  # a file, or uint8 [height, width, 3] in RGB


class NoAnswerError(Exception):
    """A picture has no answer. `reason`: why it was dropped, of `metrics.catalog.DROPPED`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class AnsweredPicture:
    """A picture of `width` × `height` pixels, and what was found in it."""

    answer: FrameAnswer
    width: int
    height: int

    def pixels(self, box: Box) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a box in pixels."""
        left, top, right, bottom = box.box
        return left * self.width, top * self.height, right * self.width, bottom * self.height


def pixels_of(picture: SentPicture) -> Pixels:
    """Return a picture as uint8 [height, width, 3], turned by its EXIF. Raises RefusedRequestError."""
    if isinstance(picture, np.ndarray):
        return picture
    try:
        return decode_picture(picture, "the picture", most_pixels=MOST_PIXELS)
    except ImageError as error:
        raise RefusedRequestError("picture", str(error)) from None


def prepared(pixels: Pixels, wanted: Capture) -> FittedPicture:
    """Return a picture as the network takes it, and where it lies therein."""
    height, width = pixels.shape[:2]
    _, place = shown((width, height), ALL, (wanted.width, wanted.height), wanted.resize)
    frame = fitted(pixels, wanted.width, wanted.height, wanted.resize)
    return FittedPicture(frame, whole=pixels, place=place)
