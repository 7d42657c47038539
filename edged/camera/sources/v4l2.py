"""A camera on USB or on the board, through Video4Linux."""

import os
from pathlib import Path

import cv2

from edged.camera.sources.decode import WholeJpegs, keep_jpegs_encoded, picture_of
from edged.camera.sources.source import Picture, Pixels
from edged.errors import CameraError, DeviceError
from edged.system.exclusive_lock import hold

PATIENCE_S = 2.0  # without a complete picture, as without any


class V4l2:
    """A Video4Linux capture device."""

    def __init__(self, device: str | int, size: tuple[int, int] | None = None, fps: float | None = None) -> None:
        """`device`: index or path.

        `size` (width, height) and `fps` are requests: the driver chooses its nearest values.
        """
        self._path = Path(f"/dev/video{device}" if isinstance(device, int) else device)
        self._requested: dict[int, float] = (
            {cv2.CAP_PROP_FRAME_WIDTH: size[0], cv2.CAP_PROP_FRAME_HEIGHT: size[1]} if size else {}
        )
        if fps:
            self._requested[cv2.CAP_PROP_FPS] = fps
        self._capture: cv2.VideoCapture | None = None
        self._jpegs: WholeJpegs | None = None

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
        self._jpegs = WholeJpegs(capture, str(self._path), PATIENCE_S) if keep_jpegs_encoded(capture) else None

    def read(self) -> Picture:
        """Read the next picture.

        Raises CameraError when no picture comes within 2 s (see `edged.camera`) or the device is gone, ImageError
        for a truncated picture of a camera that gives Motion JPEG.
        """
        pixels = self._next(self._capture) if self._capture else None
        if pixels is None:
            raise CameraError(f"{self._path} delivers no more pictures: it is unplugged or stuck")
        return Picture(pixels)

    def close(self) -> None:
        """Free the device for others."""
        if self._capture:
            self._capture.release()
        self._capture = None

    def _next(self, capture: cv2.VideoCapture) -> Pixels | None:
        return self._jpegs.read() if self._jpegs else picture_of(capture)

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
