"""Request a URL of a camera over one connection that is kept: with its login, TLS and proxy."""

import hashlib
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit
from urllib.request import (
    AbstractDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    Request,
    getproxies,
    parse_http_list,
    parse_keqv_list,
    proxy_bypass,
)

from edged.camera.sources.network import CameraIdentity, is_verified, reach
from edged.config import CameraTls
from edged.errors import CameraError

ANSWERS = 6  # of one request: two for a login, and some redirections
REDIRECTIONS = (301, 302, 303, 307, 308)


class Digest(AbstractDigestAuthHandler):
    """Computes the answers to Digest challenges, also of SHA-256 and for passwords outside ASCII."""

    def get_algorithm_impls(self, algorithm: str) -> tuple[Callable[[str], str], Callable[[str, str], str]]:
        """Return the hash of a text, and of a secret with a text. Raises CameraError for an unknown algorithm."""
        name = {"MD5": "md5", "SHA-256": "sha256"}.get(algorithm.upper())
        if name is None:
            raise CameraError(f"asks for a login by Digest with {algorithm}, which edged does not know")

        def digest(text: str) -> str:
            return hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()

        return digest, lambda secret, text: digest(f"{secret}:{text}")


class Login:
    """A user and a password, in the form that a camera asks for."""

    def __init__(self, user: str, password: str) -> None:
        self._basic = "Basic " + b64encode(f"{user}:{password}".encode()).decode()
        passwords = HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, "http://camera/", user, password)
        self._digest = Digest(passwords)
        self._challenges: list[str] = []

    def apply_challenges(self, challenges: list[str]) -> None:
        """Remember how the camera asks (the values of WWW-Authenticate), for this request and the next ones."""
        self._challenges = challenges

    def authorization(self, target: str) -> str | None:
        """Return the header for a GET of `target`; None if the camera has not asked."""
        for challenge in sorted(self._challenges, key=_strength):
            scheme, _, rest = challenge.partition(" ")
            if scheme.lower() == "digest":
                values = parse_keqv_list(list(filter(None, parse_http_list(rest))))
                values["qop"] = ",".join(each.strip() for each in values.get("qop", "").split(","))
                if not values["qop"]:
                    del values["qop"]
                answer = self._digest.get_authorization(Request(f"http://camera{target}"), values)
                return f"Digest {answer}"
            if scheme.lower() == "basic":
                return self._basic
        return None


def _strength(challenge: str) -> int:
    text = challenge.lower()
    return 2 if not text.startswith("digest") else "sha-256" not in text


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
        """Close the connection."""
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


def login_of(url: str, user: str | None, password: str | None) -> Login | None:
    """Return the login for a camera whose URL may hold a user's name."""
    name = user or unquote(urlsplit(url).username or "")
    return Login(name, password or "") if name else None


def without_user(url: str) -> str:
    """Return `url` without the user in front of its host."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _refusal(answer: HTTPResponse) -> str:
    if answer.status == 401:
        return "its path, user or password is wrong (401)"
    return f"it answers {answer.status} {answer.reason}: is its path right?"
