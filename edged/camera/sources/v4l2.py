"""A camera on USB or on the board, through Video4Linux."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from edged.camera.sources.jpeg_decoder import JpegDecoder
from edged.camera.sources.source import Picture
from edged.config import PixelFormat
from edged.errors import CameraError, DeviceError
from edged.messages import USUAL_WAIT_S
from edged.system.exclusive_lock import hold

LARGEST_RAW = 640, 480  # up to here USB 2 carries 30 uncompressed pictures a second
MOTION_JPEG = cv2.VideoWriter.fourcc(*"MJPG")
FOURCC: dict[PixelFormat, str] = {"mjpeg": "MJPG", "yuyv": "YUYV"}


log = logging.getLogger("edged.camera")


class V4l2:
    """A Video4Linux capture device."""

    longest_wait_s = USUAL_WAIT_S

    def __init__(
        self,
        device: str | int,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
        pixel_format: PixelFormat = "auto",
    ) -> None:
        """`device`: index or path.

        `pixel_format`, `size` (width, height) and `fps` are requests: the driver chooses its nearest values.
        """
        self._path = Path(f"/dev/video{device}" if isinstance(device, int) else device)
        self._requested = dict(_requests(pixel_format, size, fps))
        self._capture: cv2.VideoCapture | None = None
        self._jpegs: JpegDecoder | None = None

    def open(self) -> None:
        """Open the device.

        Raises CameraError that says whether it is absent, forbidden or in use, and by which process.
        """
        self._check_access()
        self._lock()
        capture = cv2.VideoCapture(str(self._path), cv2.CAP_V4L2)
        if not capture.isOpened():
            raise CameraError(f"{self._path} cannot be opened: another program uses it, or it is not a camera")
        # Two buffers: one is filled while the other is held, since OpenCV returns a buffer only at the next
        # read. Each further one would hold an older picture.
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        for key, value in self._requested.items():
            capture.set(key, value)
        self._capture = capture
        log.info("%s gives %s", self._path, _given(capture))
        self._jpegs = JpegDecoder(str(self._path)) if keep_jpegs_encoded(capture) else None

    def read(self) -> Picture:
        """Read the next picture.

        Raises CameraError when no picture comes within 2 s (see `edged.camera`) or the device is gone. The pixels
        of a truncated picture of Motion JPEG raise ImageError.
        """
        picture = None
        if self._capture:
            picture = picture_of(self._capture, self._jpegs)
        if picture is None:
            raise CameraError(f"{self._path} delivers no more pictures: it is unplugged or stuck")
        return picture

    def close(self) -> None:
        """Free the device for others."""
        if self._capture:
            self._capture.release()
        self._capture = None

    def _lock(self) -> None:
        """Lock the device for the life of this process: one that is stuck in the driver cannot release it."""
        try:
            hold(f"camera-{self._path.resolve()}")
        except DeviceError as error:
            raise CameraError(f"{self._path}: {error}") from None

    def _check_access(self) -> None:
        if not os.path.exists(self._path):
            raise CameraError(f"{self._path} does not exist: see `edged devices` for the cameras found")
        if not os.access(self._path, os.R_OK | os.W_OK):
            raise CameraError(f"{self._path} may not be opened by this user: add the user to the group `video`")


def _requests(
    pixel_format: PixelFormat, size: tuple[int, int] | None, fps: float | None
) -> Iterator[tuple[int, float]]:
    """Yield what is asked of the driver, in order: the format first, on which sizes and rates depend.

    By itself a driver gives uncompressed pictures, of which USB 2 carries five in a second at 1920×1080.
    """
    if pixel_format == "auto":
        is_large = size is not None and size[0] * size[1] > LARGEST_RAW[0] * LARGEST_RAW[1]
        pixel_format = "mjpeg" if is_large else "auto"
    if pixel_format != "auto":
        yield cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*FOURCC[pixel_format])
    if size:
        yield cv2.CAP_PROP_FRAME_WIDTH, size[0]
        yield cv2.CAP_PROP_FRAME_HEIGHT, size[1]
    if fps:
        yield cv2.CAP_PROP_FPS, fps


def _given(capture: cv2.VideoCapture) -> str:
    """Describe what the driver chose: `MJPG 1280×720, 30 pictures/s`."""
    code = int(capture.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little", signed=True)
    width, height = (int(capture.get(key)) for key in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
    name = code.decode("ascii", "replace").rstrip("\0 ")
    return f"{name} {width}×{height}, {capture.get(cv2.CAP_PROP_FPS):g} pictures/s"


def picture_of(capture: cv2.VideoCapture, jpegs: JpegDecoder | None) -> Picture | None:
    """Return the next picture, or None (end, failure, nothing decoded).

    `jpegs`: what decodes the pictures of a capture after `keep_jpegs_encoded`. OpenCV itself completes a truncated
    one without an error: with grey, or from the picture before.
    """
    good, content = capture.read()
    if not good or content is None or content.size == 0:
        return None
    if jpegs:
        return jpegs.picture(content.tobytes(), USUAL_WAIT_S)
    how = cv2.COLOR_GRAY2RGB if content.ndim == 2 or content.shape[2] == 1 else cv2.COLOR_BGR2RGB
    return Picture(lambda: np.asarray(cv2.cvtColor(content, how), np.uint8))


def keep_jpegs_encoded(capture: cv2.VideoCapture) -> bool:
    """Configure a Motion JPEG capture to return undecoded JPEGs; False for another format."""
    if int(capture.get(cv2.CAP_PROP_FOURCC)) != MOTION_JPEG:
        return False
    return bool(capture.set(cv2.CAP_PROP_CONVERT_RGB, 0))
