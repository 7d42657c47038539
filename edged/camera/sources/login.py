"""The user and password of a camera of HTTP or RTSP, in the form that it asks for: Basic, or Digest (RFC 7616)."""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import (
    AbstractDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    Request,
    parse_http_list,
    parse_keqv_list,
)

from edged.errors import CameraError


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

    def authorization(self, target: str, method: str = "GET") -> str | None:
        """Return the header for a request of `target`; None if the camera has not asked."""
        for challenge in sorted(self._challenges, key=_strength):
            if _is_digest(challenge):
                return f"Digest {self._answer(_values(challenge), target, method)}"
            if challenge.lower().startswith("basic"):
                return self._basic
        return None

    def _answer(self, values: dict[str, str], target: str, method: str) -> str:
        request = Request("http://camera/", method=method)
        request.selector = target
        answer = str(self._digest.get_authorization(request, values))
        realm = values.get("realm", "")
        escaped = realm.replace("\\", "\\\\").replace('"', '\\"')
        return answer.replace(f'realm="{realm}"', f'realm="{escaped}"', 1)


def _strength(challenge: str) -> int:
    return 2 if not _is_digest(challenge) else "sha-256" not in challenge.lower()


def _is_digest(challenge: str) -> bool:
    return challenge.lower().startswith("digest ")


def _values(challenge: str) -> dict[str, str]:
    """Return what a Digest challenge asks for."""
    values = parse_keqv_list(list(filter(None, parse_http_list(challenge.partition(" ")[2]))))
    values["qop"] = ",".join(each.strip() for each in values.get("qop", "").split(","))
    if not values["qop"]:
        del values["qop"]
    return values


def login_of(url: str, user: str | None, password: str | None) -> Login | None:
    """Return the login for a camera whose URL may hold a user's name."""
    name = user or unquote(urlsplit(url).username or "")
    return Login(name, password or "") if name else None


def without_user(url: str) -> str:
    """Return `url` without the user in front of its host."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
