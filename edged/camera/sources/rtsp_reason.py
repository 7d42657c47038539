"""Ask an RTSP camera why it gives no video: OpenCV's FFmpeg keeps the answer of the camera to itself."""

import re
import socket
from base64 import b64encode
from collections.abc import Callable
from hashlib import md5, sha256
from secrets import token_hex
from urllib.parse import urljoin, urlsplit, urlunsplit
from urllib.request import parse_http_list, parse_keqv_list

from edged.camera.sources.network import PORTS

WAIT_S = 2.0
MOST_BYTES = 65_536
END = b"\r\n\r\n"
DIGEST = "digest "
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
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    place = (parts.hostname or "", parts.port or PORTS[parts.scheme.lower()])
    with connect() if connect else socket.create_connection(place, WAIT_S) as connection:
        connection.settimeout(WAIT_S)
        camera = _Conversation(connection, login[0] or parts.username or "", login[1] or "")
        status, head, body = camera.ask("DESCRIBE", bare, "Accept: application/sdp")
        if status != 200:
            return _sentence(status, camera.user)
        if not (track := re.search(r"(?ms)^m=video .*?(?=^m=|\Z)", body)):
            return "its stream holds no video"
        if (codec := re.search(r"(?m)^a=rtpmap:\d+ ([\w-]+)/", track[0])) and codec[1].upper() not in CODECS:
            return f"edged does not know its codec, {codec[1][:20]}: set H.264 or H.265 in the camera"
        base = re.search(r"(?im)^content-base: *(\S+)", head)
        control = re.search(r"(?m)^a=control:(\S+)", track[0])
        track_url = urljoin(base[1] if base else f"{bare.rstrip('/')}/", control[1] if control else "")
        status, _, _ = camera.ask("SETUP", track_url, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        return camera.realm_problem() if status == 200 else _sentence(status, camera.user)


class _Conversation:
    """Requests and answers over one connection."""

    def __init__(self, connection: socket.socket, user: str, password: str) -> None:
        self._connection = connection
        self.user = user
        self._password = password
        self._count = 0
        self._challenges: list[str] = []

    def ask(self, method: str, url: str, header: str) -> tuple[int, str, str]:
        """Return status, head and body of the answer to a request; log in if it must."""
        answer = self._exchange(method, url, header)
        if answer[0] == 401 and self.user:
            self._challenges = re.findall(r"(?im)^www-authenticate: *(.*?)\r?$", answer[1])
            answer = self._exchange(method, url, header)
        return answer

    def realm_problem(self) -> str | None:
        """Return why FFmpeg cannot log in as we did: it ends a realm at its first quotation mark."""
        digests = (_asked(each) for each in self._challenges if each.lower().startswith(DIGEST))
        if any('"' in asked.get("realm", "") for asked in digests):
            return "its realm holds a quotation mark, which FFmpeg cannot answer: rename it in the camera"
        return None

    def _exchange(self, method: str, url: str, header: str) -> tuple[int, str, str]:
        self._count += 1
        login = _authorization(self._challenges, method, url, self.user, self._password)
        lines = [f"{method} {url} RTSP/1.0", f"CSeq: {self._count}", "User-Agent: edged", header, *login]
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


def _authorization(challenges: list[str], method: str, url: str, user: str, password: str) -> list[str]:
    """Return the header that answers the first challenge which can be answered: of Digest if there is one."""
    for each in challenges:
        if each.lower().startswith(DIGEST):
            return [_digest(_asked(each), method, url, user, password)]
    if challenges:
        return [f"Authorization: Basic {b64encode(f'{user}:{password}'.encode()).decode()}"]
    return []


def _asked(challenge: str) -> dict[str, str]:
    return parse_keqv_list(parse_http_list(challenge[len(DIGEST) :]))


def _digest(asked: dict[str, str], method: str, url: str, user: str, password: str) -> str:
    """Return the header that answers a challenge: RFC 7616, with `qop` where the camera asks for it."""
    name, nonce = asked.get("algorithm", "MD5"), asked.get("nonce", "")
    hashed = _sha256 if name.upper() == "SHA-256" else _md5
    secret = hashed(f"{user}:{asked.get('realm', '')}:{password}")
    use, proof = "", hashed(f"{method}:{url}")
    if "auth" in asked.get("qop", "").split(","):
        once = token_hex(8)
        use = f', qop=auth, nc=00000001, cnonce="{once}"'
        proof = f"00000001:{once}:auth:{proof}"
    realm = asked.get("realm", "").replace("\\", "\\\\").replace('"', '\\"')
    return (
        f'Authorization: Digest username="{user}", realm="{realm}", nonce="{nonce}", uri="{url}", '
        f'response="{hashed(f"{secret}:{nonce}:{proof}")}", algorithm={name}{use}'
    )


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def _sha256(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _sentence(status: int, user: str) -> str:
    if status == 401:
        return "its user or password is wrong (401)" if user else "it asks for a user and password (401)"
    return REASONS.get(status, f"it answers with the RTSP status {status}")
