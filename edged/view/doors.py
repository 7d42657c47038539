"""Who may see the page: by the name that a browser has asked for, and by password."""

import base64
import binascii
import hmac
import ipaddress
import math
import platform
import secrets
import time
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edged.view.disconnections import Disconnections
from edged.view.entrance import Connection
from edged.view.guesses import Guesses
from edged.view.guests import network_of

COOKIE = "edged-view"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Doors:
    """Answers whom it does not let in, and says in each answer what the browser must not do with it.

    A page of somebody else's may lead a browser here under a name of its own (DNS rebinding): so none is answered
    but an address, this host's own name, and those of `names`.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Iterable[str] = (),
        password: str | None = None,
        disconnections: Disconnections | None = None,
    ) -> None:
        own = platform.node().lower()
        self._app = app
        self._names = {"localhost", own, f"{own}.local", *(name.lower() for name in names)} - {"", ".local"}
        self._password = password
        self._guesses = Guesses()
        self._known = secrets.token_urlsafe(32)  # a cookie of browsers that have given the password before
        self._disconnections = disconnections or Disconnections()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-cache")
                if connection and connection.is_trusted and not self._has_cookie(scope):
                    headers.append("set-cookie", self._cookie(scope["scheme"]))
            await send(message)

        connection: Connection | None = scope.get("state", {}).get("connection")
        app = self._app if scope["type"] != "http" else self._refusal(scope, connection) or self._app
        await app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, connection: Connection | None) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if not self._knows(headers.get("host", "")):
            return PlainTextResponse("edged view goes by another name: see its option --name\n", 421)
        if self._password is None:
            return None
        who, now_s = self._guesser(scope), time.monotonic()
        if not (authorization := headers.get("authorization")):
            return _unauthorized()
        if (pause_s := self._guesses.pause_s(who, now_s)) > 0:
            self._disconnections.add("guessing", who)
            return PlainTextResponse(
                "too many wrong passwords from this address\n",
                429,
                {"retry-after": str(math.ceil(pause_s)), "connection": "close"},
            )
        if not self._opens(authorization):
            self._guesses.wrong(who, now_s)
            self._disconnections.add("wrong_password", who)
            return _unauthorized()
        self._guesses.right(who)
        if connection:
            connection.is_trusted = True
        return None

    def _guesser(self, scope: Scope) -> str:
        """Whose wrong passwords count together: of an address, or of all browsers that have known the right one.

        So whoever guesses at the same address, as behind the same router, shuts out none that was in before.
        """
        if self._has_cookie(scope):
            return "a browser that was let in before"
        return network_of(scope["client"][0] if scope.get("client") else "")

    def _has_cookie(self, scope: Scope) -> bool:
        token = cookie_parser(Headers(scope=scope).get("cookie", "")).get(COOKIE, "")
        return hmac.compare_digest(token.encode(), self._known.encode())

    def _cookie(self, scheme: str) -> str:
        secure = "; Secure" if scheme == "https" else ""
        return f"{COOKIE}={self._known}; Path=/; HttpOnly; SameSite=Strict{secure}"

    def _knows(self, host: str) -> bool:
        name = host.lower()
        if not name.endswith("]"):  # an IPv6 address without a port
            name = name.rpartition(":")[0] or name
        name = name.removeprefix("[").removesuffix("]")
        return name in self._names or _is_address(name)

    def _opens(self, authorization: str) -> bool:
        """Whatever the user is called."""
        scheme, _, credentials = authorization.partition(" ")
        try:
            _, _, password = base64.b64decode(credentials, validate=True).partition(b":")
        except (binascii.Error, ValueError):
            return False
        return scheme.lower() == "basic" and hmac.compare_digest(password, (self._password or "").encode())


def _unauthorized() -> PlainTextResponse:
    challenge = {"www-authenticate": 'Basic realm="edged view", charset="UTF-8"'}
    return PlainTextResponse("a password is needed\n", 401, challenge)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
