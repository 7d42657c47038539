"""A camera of http:// or https://: Motion JPEG, or a still picture for each request; FFmpeg reads other video."""

from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from typing import Literal

from edged.camera.sources.http_answer import HttpCameraLink
from edged.camera.sources.jpeg_decoder import JpegDecoder
from edged.camera.sources.jpeg_parts import MOST_BYTES, START, JpegSplitter
from edged.camera.sources.login import login_of, without_user
from edged.camera.sources.network import without_secrets
from edged.camera.sources.source import SLOWEST_WAIT_S, Picture, Sleep, sleep_ns
from edged.camera.sources.stream import LiveStream, with_credentials
from edged.clock import NANOSECONDS, nanoseconds, now_ns, seconds_since
from edged.config import CameraTls
from edged.config.camera import PASSWORD, USER
from edged.errors import CameraError
from edged.messages import USUAL_WAIT_S
from edged.pictures.decode import decode_picture
from edged.pictures.prepare import Pixels

READ_TIMEOUT_S = USUAL_WAIT_S
INTERVALS = 3  # between two pictures, which a read may take
POLL_S = 1.0
CHUNK = 65_536
PNG = b"\x89PNG"
Content = Literal["parts", "still", "other"]


class HttpCamera:
    """A camera of http:// or https://. What it answers decides how it is read."""

    def __init__(
        self,
        url: str,
        user: str | None = None,
        password: Callable[[], str | None] = lambda: None,
        tls: CameraTls | None = None,
        *,
        poll_s: float = POLL_S,
        timeout_s: float | None = None,
        sleep: Sleep = sleep_ns,
    ) -> None:
        """`password`: called at each opening. `poll_s`: seconds from one still picture to the next.

        `timeout_s`: after which a read has failed; None: as the camera turns out to need.
        """
        self._url, self._user, self._read_password = url, user, password
        self._shown = without_secrets(url)
        self._timeout_s = timeout_s
        self._poll_s, self._sleep = poll_s, sleep
        self._link = HttpCameraLink(without_user(url), self._shown, tls, timeout_s or READ_TIMEOUT_S)
        self._video = LiveStream(url, user, password, tls, timeout_s)
        self._reader: MotionJpeg | Stills | LiveStream | None = None

    @property
    def longest_wait_s(self) -> float:
        """Return the time-out of a read, which opening a playlist may take, too."""
        return (self._reader or self._video).longest_wait_s

    def verify(self) -> bool:
        """Return whether the camera presented a trusted certificate; see `LiveStream.verify`."""
        return self._video.verify()

    def open(self) -> None:
        """Connect, and find out what the camera sends. Raises CameraError, which shows no secret."""
        self.close()
        try:
            self._begin(self._read_password())
        except CameraError:
            self.close()
            raise

    def read(self) -> Picture:
        """Read the next picture.

        Raises CameraError when the camera has ended or stalled, ImageError for a picture that is cut short.
        """
        if self._reader is None:
            raise CameraError(f"{self._shown} is not open")
        return self._reader.read()

    def close(self) -> None:
        self._reader = None
        self._link.close()
        self._video.close()

    def _begin(self, password: str | None) -> None:
        url = self._url
        login = login_of(url, self._user, password)
        if USER in url or PASSWORD in url:
            url, login = with_credentials(url, self._user, password), None
        url = without_user(url)
        answer = self._link.get(url, login)
        first = self._first_bytes(answer)
        match content_of(answer, first):
            case "parts":
                self._reader = MotionJpeg(answer, first, self._link, self._shown, self._timeout_s)
            case "still":
                timeout_s = self._timeout_s or READ_TIMEOUT_S
                stills = Stills(lambda: self._link.get(url, login), self._link, self._shown, timeout_s)
                stills.begin(answer, first, self._poll_s, self._sleep)
                self._reader = stills
            case "other":
                self._link.close()
                self._refuse_page(answer)
                self._video.open()
                self._reader = self._video

    def _first_bytes(self, answer: HTTPResponse) -> bytes:
        if answer.status != 200:
            return b""
        try:
            first = b""
            while len(first.lstrip()) < len(PNG) and (more := answer.read(len(PNG))):
                first += more
        except (OSError, HTTPException) as error:
            raise CameraError(f"{self._shown} gives no video: {error}") from None
        return first

    def _refuse_page(self, answer: HTTPResponse) -> None:
        if answer.status == 200 and answer.headers.get_content_type() == "text/html":
            raise CameraError(f"{self._shown} gives no video: it answers with a web page: is its path right?")


def content_of(answer: HTTPResponse, first: bytes) -> Content:
    """Return what an answer holds; its first bytes count where its Content-Type says nothing of use."""
    kind = answer.headers.get_content_type() if "Content-Type" in answer.headers else ""
    begin = first.lstrip()
    if kind.startswith("multipart/"):
        return "parts"
    if begin.startswith((START, PNG)):
        return "still" if kind.startswith("image/") or answer.length is not None else "parts"
    if kind.startswith("image/"):
        return "still"
    return "parts" if begin.startswith(b"--") else "other"


class MotionJpeg:
    """Pictures that come one after the other in one answer."""

    def __init__(
        self, answer: HTTPResponse, first: bytes, link: HttpCameraLink, shown: str, timeout_s: float | None
    ) -> None:
        """`timeout_s`: see `HttpCamera`."""
        self._answer, self._link, self._shown = answer, link, shown
        self._is_learning = timeout_s is None
        self.longest_wait_s = timeout_s or SLOWEST_WAIT_S
        self._splitter = JpegSplitter()
        self._splitter.add(first)
        self._decoder, self._arrived_ns = JpegDecoder(shown), 0

    def open(self) -> None:
        """Do nothing: the answer has begun."""

    def read(self) -> Picture:
        """Read the next picture; see `HttpCamera.read`."""
        return self._decoder.picture(self._next(), self.longest_wait_s)

    def close(self) -> None:
        """Do nothing: the connection is the camera's."""

    def _next(self) -> bytes:
        start_ns = now_ns()
        try:
            while (content := self._splitter.next_picture()) is None:
                self._link.set_timeout(self.longest_wait_s - seconds_since(start_ns))
                if not (data := self._answer.read1(CHUNK)):
                    raise CameraError(f"{self._shown} has ended: the other side closed the connection")
                self._splitter.add(data)
        except TimeoutError:
            raise _stalled(self._shown, self.longest_wait_s) from None
        except (OSError, HTTPException, ValueError) as error:
            raise CameraError(f"{self._shown} has ended: {error or type(error).__name__}") from None
        self._learn()
        return content

    def _learn(self) -> None:
        """Allow some intervals between pictures, as the camera sends them."""
        before_ns, self._arrived_ns = self._arrived_ns, now_ns()
        if self._is_learning and before_ns:
            interval_s = (self._arrived_ns - before_ns) / NANOSECONDS
            self.longest_wait_s = min(SLOWEST_WAIT_S, max(READ_TIMEOUT_S, INTERVALS * interval_s))


class Stills:
    """Requests one picture after the other. A slow answer delays the next request: none pile up."""

    def __init__(
        self, request: Callable[[], HTTPResponse], link: HttpCameraLink, shown: str, timeout_s: float
    ) -> None:
        self._request, self._link, self._shown, self.longest_wait_s = request, link, shown, timeout_s
        self._begun: tuple[HTTPResponse, bytes] | None = None
        self._poll_ns = 0
        self._due_ns = 0
        self._sleep: Sleep = sleep_ns

    def begin(self, answer: HTTPResponse, first: bytes, poll_s: float, sleep: Sleep) -> None:
        """Take the answer whose first bytes were read as the first picture."""
        self._begun, self._poll_ns, self._sleep = (answer, first), nanoseconds(poll_s), sleep

    def open(self) -> None:
        """Do nothing: the first answer has begun."""

    def read(self) -> Picture:
        """Read the next picture, when it is due; see `HttpCamera.read`."""
        begun, self._begun = self._begun, None
        if begun is None and (early_ns := self._due_ns - now_ns()) > 0:
            self._sleep(early_ns)
        self._due_ns = now_ns() + self._poll_ns
        return Picture(self._picture(*(begun or (self._request(), b""))))

    def close(self) -> None:
        """Do nothing: the connection is the camera's."""

    def _picture(self, answer: HTTPResponse, first: bytes) -> Pixels:
        start_ns = now_ns()
        content = bytearray(first)
        try:
            while data := answer.read(CHUNK):  # Python's read1 does not notice the end that Content-Length tells
                content += data
                self._link.set_timeout(self.longest_wait_s - seconds_since(start_ns))
                if len(content) > MOST_BYTES:
                    raise CameraError(f"{self._shown} sends a picture of more than {MOST_BYTES // 2**20} MB")
        except TimeoutError:
            raise _stalled(self._shown, self.longest_wait_s) from None
        except (OSError, HTTPException) as error:
            raise CameraError(f"{self._shown} has ended: {error or type(error).__name__}") from None
        if answer.will_close:
            self._link.close()
        return decode_picture(bytes(content), f"a picture of {self._shown}")


def _stalled(shown: str, seconds: float) -> CameraError:
    return CameraError(f"{shown} has stalled: no picture for {round(seconds, 1):g} s")
