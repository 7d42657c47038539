"""What every source of pictures can do."""

from typing import Protocol

from edged.camera.sources.picture import Picture

KINDS = (
    "a V4L2 index or path (0, /dev/v4l/by-id/…), a rtsp:// or http:// URL, a video file, a folder of pictures, "
    "synthetic:digits or synthetic:shapes"
)


class Source(Protocol):
    """A camera's pictures. One that has a rate keeps it inside `read`, and never bursts to catch up.

    After `close`, or after an error, `open` may be called again.
    """

    def open(self) -> None:
        """Raises CameraError where there is nothing to read from."""

    def read(self) -> Picture | None:
        """The newest picture, or None at the end.

        Raises CameraError when the source has failed, ImageError when one picture cannot be read and the next may.
        """

    def close(self) -> None:
        """Give the device, connection or file back. May be called at any time, more than once."""
