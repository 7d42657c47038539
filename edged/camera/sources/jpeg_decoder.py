"""Decode the JPEGs of a camera, each when its pixels are needed: a camera that is held back decodes none."""

from functools import partial

from edged.camera.sources.source import Picture
from edged.clock import now_ns, seconds_since
from edged.errors import CameraError, ImageError
from edged.pictures.decode import decode_picture
from edged.pictures.prepare import Pixels


class JpegDecoder:
    """Decodes whole JPEGs, and finds out when a camera sends none any more. Its errors name `name`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._failing_ns: int | None = None  # since the first truncated picture after the last whole one

    def picture(self, content: bytes, patience_s: float) -> Picture:
        """Return a picture whose pixels are decoded when they are needed.

        They raise ImageError for a truncated picture, CameraError if all have been truncated for `patience_s`.
        """
        return Picture(partial(self._decoded, content, patience_s))

    def _decoded(self, content: bytes, patience_s: float) -> Pixels:
        try:
            pixels = decode_picture(content, f"a picture of {self._name}")
        except ImageError as error:
            self._failing_ns = self._failing_ns or now_ns()
            if seconds_since(self._failing_ns) > patience_s:
                raise CameraError(f"{self._name} sends no complete picture any more: {error}") from None
            raise
        self._failing_ns = None
        return pixels
