"""Who may see the page: by the name that a browser has asked for, and by password."""

import base64
import binascii
import hmac
import ipaddress
import platform
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

    def __init__(self, app: ASGIApp, names: Iterable[str] = (), password: str | None = None) -> None:
        own = platform.node().lower()
        self._app = app
        self._names = {"localhost", own, f"{own}.local", *(name.lower() for name in names)} - {"", ".local"}
        self._password = password

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        app = self._app if scope["type"] != "http" else self._refusal(Headers(scope=scope)) or self._app
        await app(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers) -> ASGIApp | None:
        if not self._knows(headers.get("host", "")):
            return PlainTextResponse("edged view goes by another name: see its option --name\n", 421)
        if self._password is not None and not self._opens(headers.get("authorization", "")):
            ask = {"www-authenticate": 'Basic realm="edged view", charset="UTF-8"'}
            return PlainTextResponse("a password is needed\n", 401, ask)
        return None

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


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
