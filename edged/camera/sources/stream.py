"""A network camera: RTSP, or MJPEG and other video over HTTP.

Delays are measured by the camera's own clock: after a short stall, old pictures come in a burst.
"""

from collections.abc import Callable
from contextlib import nullcontext
from urllib.parse import quote, urlsplit, urlunsplit

import cv2

from edged.camera.sources.decode import WholeJpegs, keep_jpegs_encoded, picture_of
from edged.camera.sources.forwarder import Forwarder, ffmpeg_without_tls
from edged.camera.sources.lag import Lag
from edged.camera.sources.network import CameraIdentity, is_verified, reach, without_secrets
from edged.camera.sources.rtsp_reason import reason_of
from edged.camera.sources.source import Picture, Pixels
from edged.clock import NANOSECONDS, now_ns, seconds_since
from edged.config import CameraTls
from edged.config.camera import PASSWORD, USER
from edged.errors import CameraError, ConfigError

OPEN_TIMEOUT_S = 5.0  # finding the format takes more than a second, after a handshake of six messages
READ_TIMEOUT_S = 2.0
PLAYLIST_TIMEOUT_S = 10.0  # of HLS: pictures come in segments, as a rule of 2 to 6 s
SLOWEST_TIMEOUT_S = 2.4  # for a camera of which no two pictures came in time; after 2.5 s the hub calls it silent
STALL = 0.9  # share of the time-out
MOST_LOGIN_BYTES = 127  # FFmpeg's own, for RTSP
USUAL_FPS = 25.0
DOUBT_NS = 600 * NANOSECONDS  # for which stamps count for nothing after a connection whose pictures stayed late


class LiveStream:
    """A live stream, decoded as it comes.

    After a stall, OpenCV's FFmpeg returns two more old pictures and never recovers. So a read that took nearly the
    whole time-out is a failure, whatever it returns: only a new connection helps.
    """

    def __init__(
        self,
        url: str,
        user: str | None = None,
        password: Callable[[], str | None] = lambda: None,
        tls: CameraTls | None = None,
        timeout_s: float | None = None,
    ) -> None:
        """`password`: called at each opening, since its file may have changed. May raise ConfigError.

        `timeout_s`: after which a read has failed; None: as the camera turns out to need.
        """
        self._url = url
        self._shown = without_secrets(url)
        self._user = user
        self._read_password = password
        self._is_patient = timeout_s is None
        self._read_timeout_s = timeout_s or _usual_timeout_s(url)
        self._pictures = 0  # of this connection
        self._keeps_time = not url.lower().startswith("http")  # not for Motion JPEG, which has no time stamps
        self._lag = Lag()
        self._doubted_until_ns = 0  # a camera may stamp by the number of its pictures, and leave some out
        self._identity = CameraIdentity(url, self._shown, tls) if is_verified(url, tls) else None
        self._forwarder: Forwarder | None = None
        self._capture: cv2.VideoCapture | None = None
        self._jpegs: WholeJpegs | None = None

    def verify(self) -> bool:
        """Return whether the camera presented a trusted certificate; False if it needs none.

        Raises CameraError if it is unreachable or not trusted. No user or password is sent.
        """
        if self._identity:
            self._identity.connect().close()
        return self._identity is not None

    def open(self) -> None:
        """Connect, find the format, skip old pictures. Raises CameraError, which shows no secret."""
        password = self._password()
        url = with_credentials(self._connect(), self._user, password)
        self._refuse_long_login(url)
        self._lag, self._pictures = Lag(), 0
        open_timeout_s = OPEN_TIMEOUT_S - READ_TIMEOUT_S + self._read_timeout_s
        options = {
            cv2.CAP_PROP_OPEN_TIMEOUT_MSEC: round(open_timeout_s * 1000),
            cv2.CAP_PROP_READ_TIMEOUT_MSEC: round(self._read_timeout_s * 1000),
            cv2.CAP_PROP_N_THREADS: 1,  # each further decoding thread delays a picture
        }
        start_ns = now_ns()
        with ffmpeg_without_tls() if self._forwarder else nullcontext():
            flat = [each for item in options.items() for each in item]
            self._capture = cv2.VideoCapture(url, cv2.CAP_FFMPEG, flat)
        if not self._capture.isOpened():
            reason = self._forwarder.error if self._forwarder else None
            self.close()
            if seconds_since(start_ns) > STALL * open_timeout_s:
                self._be_patient()
            raise reason or CameraError(
                f"{self._shown} gives no video: "
                + (
                    self._reason(password)
                    or f"its path, user or password is wrong, or it sends nothing for {open_timeout_s:g} s"
                )
            )
        gives_jpegs = not self._keeps_time and keep_jpegs_encoded(self._capture)
        self._catch_up(self._capture)
        self._jpegs = WholeJpegs(self._capture, self._shown, self._read_timeout_s) if gives_jpegs else None

    def read(self) -> Picture:
        """Read the next picture.

        Raises CameraError when the stream has ended or stalled, ImageError for a truncated picture.
        """
        start_ns = now_ns()
        pixels = self._next(self._capture) if self._capture else None
        self._refuse_stall(start_ns)
        if pixels is None:
            reason = "the other side closed the connection, or sends what cannot be decoded"
            raise CameraError(f"{self._shown} has ended: {reason}")
        self._pictures += 1
        return Picture(pixels, late_ns=self._late_ns())

    def close(self) -> None:
        if self._capture:
            self._capture.release()
        self._capture = None
        if self._forwarder:
            self._forwarder.close()
        self._forwarder = None

    def _next(self, capture: cv2.VideoCapture) -> Pixels | None:
        return self._jpegs.read() if self._jpegs else picture_of(capture)

    def _refuse_long_login(self, url: str) -> None:
        """Raise CameraError if FFmpeg would cut user and password short."""
        length = len(urlsplit(url).netloc.rpartition("@")[0])
        if self._keeps_time and length > MOST_LOGIN_BYTES:
            self.close()
            raise CameraError(
                f"{self._shown} gives no video: user and password have {length} bytes in a URL, where a letter "
                f"outside ASCII takes 6 and more; up to {MOST_LOGIN_BYTES} are supported: set a shorter password"
            )

    def _reason(self, password: str | None) -> str | None:
        """Return why an RTSP camera refuses video; None if it gives no reason."""
        if not self._keeps_time:
            return None
        url = with_credentials(self._url, self._user, password)
        try:
            return reason_of(url, (self._user, password), self._identity.connect if self._identity else None)
        except (OSError, ValueError, CameraError):
            return None

    def _refuse_stall(self, start_ns: int) -> None:
        """Raise CameraError if a read that began at `start_ns` took nearly the whole time-out."""
        if seconds_since(start_ns) > STALL * self._read_timeout_s:
            error = CameraError(f"{self._shown} has stalled: no picture for {self._read_timeout_s:g} s")
            self._be_patient()
            self.close()
            raise error

    def _be_patient(self) -> None:
        """Make the next time-outs longer: a camera that has not sent two pictures in time may be slow."""
        if self._is_patient and self._pictures < 2:
            self._read_timeout_s = max(self._read_timeout_s, min(2 * self._read_timeout_s, SLOWEST_TIMEOUT_S))

    def _connect(self) -> str:
        """Verify the camera, and return the URL for FFmpeg, without a password."""
        if self._identity is None:
            reach(self._url, self._shown)
            return self._url
        self._forwarder = Forwarder(self._url, self._identity.connect(), self._identity.connect)
        return self._forwarder.url

    def _password(self) -> str | None:
        try:
            return self._read_password()
        except ConfigError as error:
            raise CameraError(str(error)) from None

    def _late_ns(self) -> int:
        if not (self._capture and self._keeps_time) or now_ns() < self._doubted_until_ns:
            return 0
        try:
            return self._lag.late_ns(self._capture.get(cv2.CAP_PROP_POS_MSEC), now_ns())
        except CameraError as error:
            self._doubted_until_ns = now_ns() + DOUBT_NS
            raise CameraError(f"{self._shown} is connected again: {error}") from None

    def _catch_up(self, capture: cv2.VideoCapture) -> None:
        """Skip pictures that were buffered while the format was detected, until a read has to wait.

        FFmpeg's own option, `fflags=nobuffer`, also drops the first key frame, and with it all pictures until the
        next one: with key frames more than two seconds apart, that looks like a stall.
        """
        fps = capture.get(cv2.CAP_PROP_FPS)
        waited_s = 0.5 / (fps if 1 <= fps <= 120 else USUAL_FPS)
        start_ns = grab_ns = now_ns()
        while (
            capture.grab() and seconds_since(grab_ns) < waited_s and seconds_since(start_ns) < self._read_timeout_s
        ):
            grab_ns = now_ns()
        self._refuse_stall(grab_ns)


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
