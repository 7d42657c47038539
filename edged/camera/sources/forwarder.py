"""A local port through which FFmpeg reaches a camera: over connections that edged has verified, or logged in."""

import contextlib
import re
import select
import socket
import ssl
import threading
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from edged.camera.sources.login import Login
from edged.camera.sources.network import without_secrets
from edged.camera.sources.rtsp_conversation import RtspLogin
from edged.errors import CameraError

CHUNK = 65_536
HEAD_BYTES = 16_384  # largest request
ANSWERS_BYTES = 65_536  # start of the camera's answers, before video: up to here a redirection is looked for
END = b"\r\n\r\n"
HOST = re.compile(rb"(?im)^(host:[ \t]*)[^\r\n]*")
LOCATION = re.compile(rb"(?im)^location:[ \t]*([^\r\n]*)\r?\n")
REDIRECTION = re.compile(rb"(?:\A|\r?\n)(?:HTTP|RTSP)/1\.\d 3\d\d ")
LOOPBACK = "127.0.0.1"
WITHOUT_TLS = {"https": "http", "rtsps": "rtsp"}


class Forwarder:
    """Forwards a local port, for FFmpeg, to a camera and back, while it is open.

    A redirection is not followed: it would lead to a host that is not verified.
    """

    def __init__(
        self, url: str, first: socket.socket, connect: Callable[[], socket.socket], login: Login | None = None
    ) -> None:
        """`url`: of the camera. `first`: a connection to it; `connect`: makes more, or raises CameraError.

        `login`: given in FFmpeg's place, over RTSP.
        """
        self.error: CameraError | None = None  # why the camera cannot be reached, where FFmpeg gives no reason
        self._url = urlsplit(url)
        self._shown = without_secrets(url)
        self._first: socket.socket | None = first
        self._connect = connect
        self._login = login
        self._listener = socket.create_server((LOOPBACK, 0))
        self._lock = threading.Lock()
        self._open: set[socket.socket] = {first}
        self._is_closed = False
        threading.Thread(target=self._accept, name="forwarder", daemon=True).start()

    @property
    def url(self) -> str:
        """Return the URL for FFmpeg to open, without user and password."""
        place = f"{LOOPBACK}:{self._listener.getsockname()[1]}"
        scheme = self._url.scheme.lower()
        return urlunsplit(self._url._replace(scheme=WITHOUT_TLS.get(scheme, scheme), netloc=place))

    def close(self) -> None:
        """End all connections. Call it after FFmpeg has ended."""
        with self._lock:
            self._is_closed = True
            for each in self._open:
                _shut(each)
            unused, self._first = self._first, None
        if unused:
            unused.close()
        _shut(self._listener)  # a thread that waits for a connection wakes up, and closes it

    def _accept(self) -> None:
        with self._listener, contextlib.suppress(OSError):
            while not self._is_closed:
                ffmpeg, _ = self._listener.accept()
                threading.Thread(target=self._join, args=[ffmpeg], name="forwarder", daemon=True).start()

    def _join(self, ffmpeg: socket.socket) -> None:
        with contextlib.ExitStack() as ends, contextlib.suppress(OSError):
            ends.enter_context(ffmpeg)
            try:
                camera = ends.enter_context(self._connection())
            except CameraError as error:
                self.error = error
                return
            with self._lock:
                if self._is_closed:
                    return
                self._open |= {ffmpeg, camera}
            try:
                self._pass_on(ffmpeg, camera)
            except CameraError as error:
                self.error = error
            finally:
                with self._lock:
                    self._open -= {ffmpeg, camera}

    def _connection(self) -> socket.socket:
        with self._lock:
            first, self._first = self._first, None
        return first or self._connect()

    def _pass_on(self, ffmpeg: socket.socket, camera: socket.socket) -> None:
        """Forward both ways in one thread, until either end closes: a TLS connection allows only one thread.

        Raises CameraError for a redirection, or a login that is refused.
        """
        login = RtspLogin(self._login) if self._login else None
        if login and not login.is_accepted(camera, self.url):
            raise CameraError(f"{self._shown} gives no video: its user or password is wrong (401)")
        camera.setblocking(False)
        if self._url.scheme.lower() == "https":
            _send(camera, self._request_head(ffmpeg))
        answers = b""
        while True:
            has_rest = isinstance(camera, ssl.SSLSocket) and camera.pending()
            ready = [camera] if has_rest else select.select([ffmpeg, camera], [], [])[0]
            if ffmpeg in ready:
                if not (data := ffmpeg.recv(CHUNK)):
                    return
                _send(camera, login.add(data) if login else data)
            if camera in ready:
                try:
                    data = camera.recv(CHUNK)
                except (ssl.SSLWantReadError, BlockingIOError):  # a partial record, or a control record of TLS
                    continue
                if not data:
                    return
                if len(answers) < ANSWERS_BYTES:
                    answers += data
                    self._refuse_redirection(answers)
                ffmpeg.sendall(data)

    def _request_head(self, ffmpeg: socket.socket) -> bytes:
        """Return FFmpeg's request up to its end, with the camera's host name in place of the local one."""
        head = b""
        while END not in head:
            data = ffmpeg.recv(CHUNK)
            if not data or len(head) > HEAD_BYTES:
                raise ConnectionError
            head += data
        name = self._url.netloc.rpartition("@")[2]
        return HOST.sub(b"\\g<1>" + name.encode("idna"), head, count=1)

    def _refuse_redirection(self, answers: bytes) -> None:
        if found := REDIRECTION.search(answers):
            place = LOCATION.search(answers, found.start())
            where = f" to {without_secrets(place[1].decode(errors='replace'))}" if place else ""
            raise CameraError(
                f"{self._shown} gives no video: it redirects{where}, which edged does not "
                "follow: write the address itself as `source`"
            )


def _send(camera: socket.socket, data: bytes) -> None:
    left = memoryview(data)
    while left:
        try:
            left = left[camera.send(left) :]
        except (ssl.SSLWantWriteError, BlockingIOError):
            select.select([], [camera], [])
        except ssl.SSLWantReadError:
            select.select([camera], [], [])


def _shut(connection: socket.socket) -> None:
    """Wake up the thread that waits for this socket. TLS's closing message is left to that thread."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
