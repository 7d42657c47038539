"""RTSP requests and answers: edged's own, and FFmpeg's with a login that FFmpeg cannot give."""

import re
import socket

from edged.camera.sources.login import Login

WAIT_S = 2.0
MOST_BYTES = 65_536
END = b"\r\n\r\n"
DOLLAR = b"$"  # begins a packet between two requests: a channel, and a length of two bytes
PACKET_HEAD = 4
TO_DESCRIBE = "Accept: application/sdp"


class RtspConversation:
    """Requests and answers over one connection."""

    def __init__(self, connection: socket.socket, login: Login | None) -> None:
        connection.settimeout(WAIT_S)
        self._connection = connection
        self.login = login
        self._count = 0

    def ask(self, method: str, url: str, header: str) -> tuple[int, str, str]:
        """Return status, head and body of the answer to a request; log in if it must. Raises OSError."""
        answer = self._exchange(method, url, header)
        if answer[0] == 401 and self.login:
            self.login.apply_challenges(re.findall(r"(?im)^www-authenticate: *(.*?)\r?$", answer[1]))
            answer = self._exchange(method, url, header)
        return answer

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
        while len(data) < len(head.encode()) + len(END) + _length(head):
            data += self._more(data)
        status = re.match(r"RTSP/\d\.\d (\d{3})", head)
        return int(status[1] if status else 0), head, data.partition(END)[2].decode(errors="replace")

    def _more(self, data: bytes) -> bytes:
        more = self._connection.recv(MOST_BYTES)
        if not more or len(data) > MOST_BYTES:
            raise ConnectionError("no answer of RTSP")
        return more


class RtspLogin:
    """Adds a login to FFmpeg's requests.

    FFmpeg cuts user and password after 127 bytes, ends a realm at its first quotation mark, and knows fewer kinds
    of Digest.
    """

    def __init__(self, login: Login) -> None:
        self._login = login
        self._rest = b""  # a request or a packet that is not complete

    def is_accepted(self, connection: socket.socket, url: str) -> bool:
        """Find out over a new connection how the camera asks for a login, and try it. Raises OSError."""
        status, _, _ = RtspConversation(connection, self._login).ask("DESCRIBE", url, TO_DESCRIBE)
        return status != 401

    def add(self, data: bytes) -> bytes:
        """Return what the camera gets for `data` of FFmpeg: whole packets, and whole requests with the login.

        Raises ConnectionError for a request without an end.
        """
        self._rest += data
        ready = []
        while size := self._size():
            ready.append(self._with_login(self._rest[:size]))
            self._rest = self._rest[size:]
        return b"".join(ready)

    def _size(self) -> int:
        """Return how many bytes the first request or packet has; 0 if it is not complete."""
        if self._rest.startswith(DOLLAR):
            size = PACKET_HEAD + int.from_bytes(self._rest[2:PACKET_HEAD], "big")
            return size if len(self._rest) >= max(size, PACKET_HEAD) else 0
        head, end, body = self._rest.partition(END)
        if not end:
            if len(head) > MOST_BYTES:
                raise ConnectionError("a request of RTSP without an end")
            return 0
        size = _length(head.decode(errors="replace"))
        return len(head) + len(END) + size if len(body) >= size else 0

    def _with_login(self, request: bytes) -> bytes:
        if request.startswith(DOLLAR):
            return request
        line, _, rest = request.partition(b"\r\n")
        method, _, target = line.decode(errors="replace").partition(" ")
        login = self._login.authorization(target.rpartition(" ")[0], method)
        return b"\r\n".join([line, *([f"Authorization: {login}".encode()] if login else []), rest])


def _length(head: str) -> int:
    """Return the length of the body that follows a head."""
    length = re.search(r"(?im)^content-length: *(\d+)", head)
    return int(length[1] if length else 0)
