"""A network camera: RTSP, or MJPEG and other video over HTTP."""

from urllib.parse import quote, urlsplit, urlunsplit

import cv2

from edged.camera.sources.capture import picture_of
from edged.camera.sources.picture import Picture
from edged.clock import now_ns, seconds_since
from edged.errors import CameraError

TIMEOUT_S = 2.0
STALL = 0.9  # share of the time-out


class Stream:
    """A live stream, decoded as it comes.

    OpenCV's FFmpeg gives two more, old pictures after a stream has stalled, and never recovers after that: a read
    that took nearly the whole time-out is a failure, whatever it returns, and only a new connection helps.
    """

    def __init__(
        self, url: str, user: str | None = None, password: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._url = url
        self._credentials = (user, password)
        self._timeout_s = timeout_s
        self._capture: cv2.VideoCapture | None = None

    def open(self) -> None:
        """Connect and find out the format. Raises CameraError, with the address but no secret."""
        milliseconds = round(self._timeout_s * 1000)
        options = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, milliseconds, cv2.CAP_PROP_READ_TIMEOUT_MSEC, milliseconds]
        options += [cv2.CAP_PROP_N_THREADS, 1]  # each further decoding thread holds a picture back
        self._capture = cv2.VideoCapture(with_credentials(self._url, *self._credentials), cv2.CAP_FFMPEG, options)
        if not self._capture.isOpened():
            self.close()
            raise CameraError(
                f"{without_secrets(self._url)} gives no video: nobody answers there within {self._timeout_s:g} s, "
                "or the path, user or password is wrong"
            )

    def read(self) -> Picture:
        """Raises CameraError when the stream has ended or stalled."""
        start_ns = now_ns()
        pixels = picture_of(self._capture) if self._capture else None
        if seconds_since(start_ns) > STALL * self._timeout_s:
            raise CameraError(f"{without_secrets(self._url)} has stalled: no picture for {self._timeout_s:g} s")
        if pixels is None:
            raise CameraError(f"{without_secrets(self._url)} has ended: the other side closed the connection")
        return Picture(pixels)

    def close(self) -> None:
        """Disconnect."""
        if self._capture:
            self._capture.release()
        self._capture = None


def with_credentials(url: str, user: str | None, password: str | None) -> str:
    """`url` with `user` (or the one it has) and `password`, percent-encoded."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    name = quote(user, safe="") if user else parts.netloc.rpartition("@")[0].partition(":")[0]
    if not name:
        return url
    secret = f":{quote(password, safe='')}" if password else ""
    return urlunsplit(parts._replace(netloc=f"{name}{secret}@{host}"))


def without_secrets(url: str) -> str:
    """`url` without user, password and query, for messages."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))
