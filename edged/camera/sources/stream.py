"""A network camera: RTSP, or video over HTTP that is no Motion JPEG.

Delays are measured by the camera's own clock: after a short stall, old pictures come in a burst.
"""

import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from edged.camera.sources.forwarder import Forwarder
from edged.camera.sources.lag import Lag
from edged.camera.sources.login import Login, login_of
from edged.camera.sources.network import CameraIdentity, connected, is_verified, reach, without_secrets
from edged.camera.sources.rtsp_reason import reason_of
from edged.camera.sources.source import SLOWEST_WAIT_S, NoPictureError, Picture
from edged.clock import NANOSECONDS, now_ns
from edged.config import CameraTls
from edged.config.camera import PASSWORD, USER
from edged.errors import CameraError
from edged.messages import USUAL_WAIT_S

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

    from edged.camera.sources.live_video import LiveVideo

OPEN_TIMEOUT_S = 3.0  # of each of its two steps, beyond a read's: the handshake of six messages, and the format
READ_TIMEOUT_S = USUAL_WAIT_S
PLAYLIST_TIMEOUT_S = 10.0  # of HLS: pictures come in segments, as a rule of 2 to 6 s
MOST_LOGIN_BYTES = 127  # FFmpeg's own, for RTSP
DOUBT_NS = 600 * NANOSECONDS  # for which stamps count for nothing after a connection whose pictures stayed late


class LiveStream:
    """A live stream, decoded as it comes."""

    def __init__(
        self,
        url: str,
        user: str | None = None,
        password: Callable[[], str | None] = lambda: None,
        tls: CameraTls | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """`password`: called at each opening, since its file may have changed. May raise CameraError.

        `timeout_s`: after which a read has failed; None: as the camera turns out to need.
        """
        self._url = url
        self._shown = without_secrets(url)
        self._user = user
        self._read_password = password
        self._is_patient = timeout_s is None
        self._read_timeout_s = timeout_s or _usual_timeout_s(url)
        self._pictures = 0  # of this connection
        self._is_rtsp = not url.lower().startswith("http")  # stamps of HTTP are those of a file
        self._logs_in = False  # since FFmpeg cannot
        self._lag = Lag()
        self._doubted_until_ns = 0  # a camera may stamp by the number of its pictures, and leave some out
        self._identity = CameraIdentity(url, self._shown, tls) if is_verified(url, tls) else None
        self._forwarder: Forwarder | None = None
        self._video: LiveVideo | None = None

    @property
    def longest_wait_s(self) -> float:
        """Return the longest time that a read takes; opening may take twice as long, and some seconds."""
        return self._read_timeout_s

    def verify(self) -> bool:
        """Return whether the camera presented a trusted certificate; False if it needs none.

        Raises CameraError if it is unreachable or not trusted. No user or password is sent.
        """
        if self._identity:
            self._identity.connect().close()
        return self._identity is not None

    def open(self) -> None:
        """Connect, find the format, skip old pictures. Raises CameraError, which shows no secret."""
        self.close()
        password = self._read_password()
        self._lag, self._pictures = Lag(), 0
        try:
            self._video = self._opened(password)
        except NoPictureError as error:
            raise self._no_video(password, error) from None

    def read(self) -> Picture:
        """Read the next picture. Raises CameraError when the stream has ended or stalled."""
        if self._video is None:
            raise CameraError(f"{self._shown} is not open")
        try:
            frame = self._video.read()
        except NoPictureError as error:
            self.close()
            if error.cause == "late":
                self._be_patient()
            what = "has stalled" if error.cause == "late" else "has ended"
            raise CameraError(f"{self._shown} {what}: {error}") from None
        self._pictures += 1
        return Picture(partial(self._video.pixels_of, frame), late_ns=self._late_ns(frame))

    def close(self) -> None:
        video, self._video = self._video, None
        if video:
            video.close()
        if self._forwarder:
            self._forwarder.close()
        self._forwarder = None

    def _opened(self, password: str | None) -> "LiveVideo":
        """Return the open video; edged logs in where FFmpeg is refused. Raises CameraError, NoPictureError."""
        login = self._login(password)
        try:
            return self._connect(password, login if self._logs_in or self._is_long(password) else None)
        except NoPictureError as error:
            if login is None or self._logs_in or error.cause != "login":
                raise
        self.close()
        video = self._connect(password, login)
        self._logs_in = True
        return video

    def _connect(self, password: str | None, login: Login | None) -> "LiveVideo":
        """Verify the camera, and open its video; with `login`, which FFmpeg need not know."""
        from edged.camera.sources.live_video import LiveVideo

        if self._identity or login:
            self._forwarder = Forwarder(self._url, self._connection(), self._connection, login)
        else:
            reach(self._url, self._shown)
        url = self._forwarder.url if self._forwarder else self._url
        return LiveVideo(
            url if login else with_credentials(url, self._user, password),
            ((OPEN_TIMEOUT_S + self._read_timeout_s) / 2, self._read_timeout_s),
            allows_tls=self._forwarder is None,
        )

    def _connection(self) -> socket.socket:
        return self._identity.connect() if self._identity else connected(self._url, self._shown)

    def _login(self, password: str | None) -> Login | None:
        """Return what edged may log in with; None if there is no login, or it is part of the path."""
        is_unverified = self._identity is None and self._url.lower().startswith("rtsps")  # FFmpeg's own TLS
        if not self._is_rtsp or is_unverified or USER in self._url or PASSWORD in self._url:
            return None
        return login_of(self._url, self._user, password)

    def _is_long(self, password: str | None) -> bool:
        """Return whether FFmpeg would cut user and password short."""
        url = with_credentials(self._url, self._user, password)
        return len(urlsplit(url).netloc.rpartition("@")[0]) > MOST_LOGIN_BYTES

    def _no_video(self, password: str | None, error: NoPictureError) -> CameraError:
        """Close, and return why opening has failed."""
        known = self._forwarder.error if self._forwarder else None
        self.close()
        if error.cause == "late":
            self._be_patient()
        return known or CameraError(f"{self._shown} gives no video: {self._reason(password) or error}")

    def _reason(self, password: str | None) -> str | None:
        """Return why an RTSP camera refuses video; None if it gives no reason."""
        if not self._is_rtsp:
            return None
        url = with_credentials(self._url, self._user, password)
        try:
            return reason_of(url, (self._user, password), self._connection)
        except (OSError, ValueError, CameraError):
            return None

    def _be_patient(self) -> None:
        """Make the next time-outs longer: a camera that has not sent two pictures in time may be slow."""
        if self._is_patient and self._pictures < 2:
            self._read_timeout_s = max(self._read_timeout_s, min(2 * self._read_timeout_s, SLOWEST_WAIT_S))

    def _late_ns(self, frame: "VideoFrame") -> int:
        if not self._is_rtsp or frame.time is None or now_ns() < self._doubted_until_ns:
            return 0
        try:
            return self._lag.late_ns(frame.time * 1000, now_ns())
        except CameraError as error:
            self._doubted_until_ns = now_ns() + DOUBT_NS
            raise CameraError(f"{self._shown} is connected again: {error}") from None


def _usual_timeout_s(url: str) -> float:
    return PLAYLIST_TIMEOUT_S if urlsplit(url).path.lower().endswith(".m3u8") else READ_TIMEOUT_S


def with_credentials(url: str, user: str | None, password: str | None) -> str:
    """Return `url` with `user` (or its own) and `password`, percent-encoded, at their places if it has any."""
    if USER in url or PASSWORD in url:
        return url.replace(USER, quote(user or "", safe="")).replace(PASSWORD, quote(password or "", safe=""))
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    name = quote(user, safe="") if user else parts.netloc.rpartition("@")[0].partition(":")[0]
    if not name:
        return url
    secret = f":{quote(password, safe='')}" if password else ""
    return urlunsplit(parts._replace(netloc=f"{name}{secret}@{host}"))
