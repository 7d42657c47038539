"""Request a URL of a camera over one connection that is kept: with its login, TLS and proxy."""

import socket
import ssl
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urljoin, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from edged.camera.sources.login import Login
from edged.camera.sources.network import CameraIdentity, is_verified, reach
from edged.config import CameraTls
from edged.errors import CameraError

ANSWERS = 6  # of one request: two for a login, and some redirections
REDIRECTIONS = (301, 302, 303, 307, 308)


class HttpCameraLink:
    """The connection to one camera. Made anew when the camera has closed it."""

    def __init__(self, url: str, shown: str, tls: CameraTls | None, timeout_s: float) -> None:
        """`url`: with no user; `shown`: for messages."""
        self._url, self._shown, self._tls, self._timeout_s = url, shown, tls, timeout_s
        self._identity = CameraIdentity(url, shown, tls) if is_verified(url, tls) else None
        self._connection: HTTPConnection | None = None
        self._socket: socket.socket | None = None  # http.client forgets it when an answer will end it
        self._answer: HTTPResponse | None = None

    def get(self, url: str, login: Login | None) -> HTTPResponse:
        """Return the answer with status 200, or a redirection to another host. Raises CameraError."""
        try:
            return self._get(url, login)
        except TimeoutError:
            raise CameraError(
                f"{self._shown} gives no video: it sends nothing for {self._timeout_s:g} s"
            ) from None
        except (OSError, HTTPException) as error:
            raise CameraError(f"{self._shown} gives no video: {error or type(error).__name__}") from None

    def set_timeout(self, seconds: float) -> None:
        """Set how long a read of the answer may wait. Raises TimeoutError if no time is left."""
        if seconds <= 0:
            raise TimeoutError
        if self._socket and self._socket.fileno() >= 0:
            self._socket.settimeout(seconds)

    def close(self) -> None:
        if self._answer:
            self._answer.close()
        if self._connection:
            self._connection.close()
        self._answer = self._connection = self._socket = None

    def _get(self, url: str, login: Login | None) -> HTTPResponse:
        asked = False
        for _ in range(ANSWERS):
            answer = self._ask(url, login)
            if answer.status == 200:
                return answer
            if answer.status == 401 and login and not asked:
                login.apply_challenges(answer.headers.get_all("WWW-Authenticate", []))
                asked = True
            elif answer.status in REDIRECTIONS:
                target = urljoin(url, answer.headers.get("Location", ""))
                if urlsplit(target)[:2] != urlsplit(url)[:2]:
                    return answer
                url = target
            else:
                raise CameraError(f"{self._shown} gives no video: {_refusal(answer)}")
            self._finish(answer)
        raise CameraError(f"{self._shown} gives no video: it redirects again and again")

    def _ask(self, url: str, login: Login | None) -> HTTPResponse:
        parts = urlsplit(url)
        target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        headers = {"Host": parts.netloc.encode("idna").decode(), "User-Agent": "edged", "Accept": "*/*"}
        if login and (authorization := login.authorization(target)):
            headers["Authorization"] = authorization
        is_used = self._connection is not None
        try:
            return self._send(target, headers)
        except (ConnectionError, HTTPException):
            if not is_used:
                raise
            self.close()  # the camera has closed a connection that was kept: once more over a new one
            return self._send(target, headers)

    def _send(self, target: str, headers: dict[str, str]) -> HTTPResponse:
        connection = self._connection = self._connection or self._connect()
        if connection.sock:
            connection.sock.settimeout(self._timeout_s)
        prefix = self._url.partition("://")[0] + "://" + headers["Host"] if self._proxy() else ""
        connection.request("GET", prefix + target, headers=headers)
        self._socket = connection.sock
        self._answer = connection.getresponse()
        return self._answer

    def _connect(self) -> HTTPConnection:
        parts = urlsplit(self._url)
        host = parts.hostname or ""
        if self._identity:
            connection = HTTPConnection(host)
            connection.sock = self._identity.connect()
            return connection
        if proxy := self._proxy():
            return HTTPConnection(proxy, timeout=self._timeout_s)
        reach(self._url, self._shown)
        if parts.scheme.lower() == "https":
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # tls.insecure
            return HTTPSConnection(host, parts.port, timeout=self._timeout_s, context=context)
        return HTTPConnection(host, parts.port, timeout=self._timeout_s)

    def _proxy(self) -> str | None:
        """Return host and port of the environment's proxy for http://."""
        parts = urlsplit(self._url)
        proxy = getproxies().get("http") if parts.scheme.lower() == "http" else None
        return None if not proxy or proxy_bypass(parts.hostname or "") else proxy.rpartition("//")[2].strip("/")

    def _finish(self, answer: HTTPResponse) -> None:
        """Read what is left of a short answer, so that the connection can be used again."""
        if answer.will_close or (answer.length or 0) > 65536:
            self.close()
        else:
            answer.read()


def _refusal(answer: HTTPResponse) -> str:
    if answer.status == 401:
        return "its path, user or password is wrong (401)"
    return f"it answers {answer.status} {answer.reason}: is its path right?"
