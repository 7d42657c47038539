"""Who may see the page: requests by a name of this host, with the password if one is required."""

import base64
import binascii
import hmac
import ipaddress
import logging
import math
import platform
import secrets
import time
import traceback
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edged.web.connections import Disconnections, WebConnection
from edged.web.limits import PasswordThrottle, network_of

log = logging.getLogger("edged.view")

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


class AccessControl:
    """Rejects requests without permission, and sets security headers on each response.

    A foreign page may lead a browser here under another name (DNS rebinding): so only requests by address, by this
    host's own name, and by those of `names` are answered.
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
        self._throttle = PasswordThrottle()
        self._known = secrets.token_urlsafe(32)  # cookie of browsers that have sent the password before
        self._disconnections = disconnections or Disconnections("view")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-cache")
                if connection and connection.is_trusted and not self._has_cookie(scope):
                    secure = "; Secure" if scope["scheme"] == "https" else ""
                    cookie = f"{COOKIE}={self._known}; Path=/; HttpOnly; SameSite=Strict{secure}"
                    headers.append("set-cookie", cookie)
            await send(message)

        connection: WebConnection | None = scope.get("state", {}).get("connection")
        app = self._app if scope["type"] != "http" else self._refusal(scope, connection) or self._app
        try:
            await app(scope, receive, send_with_headers)
        except Exception as error:  # the answer, as far as it was not begun, has status 500
            place = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{scope.get('method')} {scope['path']} failed: {error!r} ({place.filename}:{place.lineno})"
            log.error("view: %s", what, exc_info=log.isEnabledFor(logging.DEBUG))

    def _refusal(self, scope: Scope, connection: WebConnection | None) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if not self._knows(headers.get("host", "")):
            return PlainTextResponse("edged view has another name: see its option --server-name\n", 421)
        if self._password is None:
            return None
        who, now_s = self._guesser(scope), time.monotonic()
        if not (authorization := headers.get("authorization")):
            return _unauthorized()
        if (pause_s := self._throttle.pause_s(who, now_s)) > 0:
            self._disconnections.add("guessing", who)
            return PlainTextResponse(
                "too many wrong passwords from this address\n",
                429,
                {"retry-after": str(math.ceil(pause_s)), "connection": "close"},
            )
        if not self._opens(authorization):
            self._throttle.record_failure(who, now_s)
            self._disconnections.add("wrong_password", who)
            return _unauthorized()
        self._throttle.forgive(who)
        if connection:
            connection.is_trusted = True
        return None

    def _guesser(self, scope: Scope) -> str:
        """Return whose wrong passwords count together: of an address, or of all browsers accepted before.

        So guesses from the same address, as behind a shared router, lock out no browser that was accepted before.
        """
        if self._has_cookie(scope):
            return "a browser that was accepted before"
        return network_of(scope["client"][0] if scope.get("client") else "")

    def _has_cookie(self, scope: Scope) -> bool:
        token = cookie_parser(Headers(scope=scope).get("cookie", "")).get(COOKIE, "")
        return hmac.compare_digest(token.encode(), self._known.encode())

    def _knows(self, host: str) -> bool:
        name = host.lower()
        if not name.endswith("]"):  # an IPv6 address without a port
            name = name.rpartition(":")[0] or name
        name = name.removeprefix("[").removesuffix("]")
        return name in self._names or _is_address(name)

    def _opens(self, authorization: str) -> bool:
        """Return whether the password is correct, whatever the user name."""
        scheme, _, credentials = authorization.partition(" ")
        try:
            _, _, password = base64.b64decode(credentials, validate=True).partition(b":")
        except (binascii.Error, ValueError):
            return False
        return scheme.lower() == "basic" and hmac.compare_digest(password, (self._password or "").encode())


def _unauthorized() -> PlainTextResponse:
    challenge = {"www-authenticate": 'Basic realm="edged view", charset="UTF-8"'}
    return PlainTextResponse("a password is required\n", 401, challenge)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
