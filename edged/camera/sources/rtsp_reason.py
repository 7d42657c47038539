"""Ask an RTSP camera why it gives no video: OpenCV's FFmpeg keeps the answer of the camera to itself."""

import re
import socket
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

from edged.camera.sources.login import Login, login_of, without_user
from edged.camera.sources.network import PORTS

WAIT_S = 2.0
MOST_BYTES = 65_536
END = b"\r\n\r\n"
CODECS = frozenset({"AV1", "H261", "H263", "H263-1998", "H264", "H265", "JPEG", "MP4V-ES", "VP8", "VP9"})
REASONS = {
    403: "it forbids this user to see its video (403)",
    404: "it has no video at this path (404)",
    454: "it ended the session (454): are there too many viewers?",
    461: "it offers RTP over UDP only (461), and edged reads RTP over TCP: set TCP or interleaved in the camera",
}


def reason_of(
    url: str, login: tuple[str | None, str | None], connect: Callable[[], socket.socket] | None = None
) -> str | None:
    """Return in words why the camera at `url` refuses video, or None if it does not.

    `login`: user and password. `connect`: makes a connection; None: one without TLS. Raises OSError.
    """
    parts = urlsplit(url)
    bare = without_user(url)
    place = (parts.hostname or "", parts.port or PORTS[parts.scheme.lower()])
    with connect() if connect else socket.create_connection(place, WAIT_S) as connection:
        connection.settimeout(WAIT_S)
        camera = _Conversation(connection, login_of(url, *login))
        status, head, body = camera.ask("DESCRIBE", bare, "Accept: application/sdp")
        if status != 200:
            return _sentence(status, has_login=camera.login is not None)
        if not (track := re.search(r"(?ms)^m=video .*?(?=^m=|\Z)", body)):
            return "its stream holds no video"
        if (codec := re.search(r"(?m)^a=rtpmap:\d+ ([\w-]+)/", track[0])) and codec[1].upper() not in CODECS:
            return f"edged does not know its codec, {codec[1][:20]}: set H.264 or H.265 in the camera"
        base = re.search(r"(?im)^content-base: *(\S+)", head)
        control = re.search(r"(?m)^a=control:(\S+)", track[0])
        track_url = urljoin(base[1] if base else f"{bare.rstrip('/')}/", control[1] if control else "")
        status, _, _ = camera.ask("SETUP", track_url, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        return camera.realm_problem() if status == 200 else _sentence(status, has_login=camera.login is not None)


class _Conversation:
    """Requests and answers over one connection."""

    def __init__(self, connection: socket.socket, login: Login | None) -> None:
        self._connection = connection
        self.login = login
        self._count = 0

    def ask(self, method: str, url: str, header: str) -> tuple[int, str, str]:
        """Return status, head and body of the answer to a request; log in if it must."""
        answer = self._exchange(method, url, header)
        if answer[0] == 401 and self.login:
            self.login.apply_challenges(re.findall(r"(?im)^www-authenticate: *(.*?)\r?$", answer[1]))
            answer = self._exchange(method, url, header)
        return answer

    def realm_problem(self) -> str | None:
        """Return why FFmpeg cannot log in as we did: it ends a realm at its first quotation mark."""
        if self.login and any('"' in realm for realm in self.login.realms):
            return "its realm holds a quotation mark, which FFmpeg cannot answer: rename it in the camera"
        return None

    def _exchange(self, method: str, url: str, header: str) -> tuple[int, str, str]:
        self._count += 1
        login = self.login.authorization(url, method) if self.login else None
        lines = [f"{method} {url} RTSP/1.0", f"CSeq: {self._count}", "User-Agent: edged", header]
        lines += [f"Authorization: {login}"] if login else []
        self._connection.sendall("\r\n".join([*lines, "", ""]).encode())
        data = b""
        while END not in data:
            data += self._more(data)
        head = data.partition(END)[0].decode(errors="replace")
        length = re.search(r"(?im)^content-length: *(\d+)", head)
        while len(data) < len(head.encode()) + len(END) + int(length[1] if length else 0):
            data += self._more(data)
        status = re.match(r"RTSP/\d\.\d (\d{3})", head)
        return int(status[1] if status else 0), head, data.partition(END)[2].decode(errors="replace")

    def _more(self, data: bytes) -> bytes:
        more = self._connection.recv(MOST_BYTES)
        if not more or len(data) > MOST_BYTES:
            raise ConnectionError("no answer of RTSP")
        return more


def _sentence(status: int, *, has_login: bool) -> str:
    if status == 401:
        return "its user or password is wrong (401)" if has_login else "it asks for a user and password (401)"
    return REASONS.get(status, f"it answers with the RTSP status {status}")
