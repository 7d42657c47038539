"""Whom the view answers."""

import asyncio
import base64
import platform
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edged.view.access import AccessControl

IN = PlainTextResponse("in")


def ask(
    host: str | None, authorization: str = "", app: ASGIApp = IN, **settings: Any
) -> tuple[int, dict[str, str]]:
    """Status and headers of the answer."""
    named = {"host": host, "authorization": authorization or None}
    headers = [(name.encode(), value.encode("latin-1")) for name, value in named.items() if value is not None]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(AccessControl(app, **settings)(scope, receive, send))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:9465", "LOCALHOST:9465", "127.0.0.1:9465", "192.168.1.7:9465", "[::1]:9465", "[::1]"],
)
def test_an_address_and_localhost_are_answered(host: str) -> None:
    assert ask(host)[0] == 200


def test_this_host_and_names_that_were_given_are_answered() -> None:
    assert ask(f"{platform.node()}:9465")[0] == 200
    assert ask("Board.example:9465", names=["board.example"])[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:9465", "127.0.0.1.evil.example", "localhost.evil.example", "", None]
)
def test_a_host_name_that_is_not_ours_is_refused(host: str | None) -> None:
    assert ask(host)[0] == 421


def test_each_answer_tells_the_browser_what_it_must_not_do() -> None:
    for host in ("localhost", "evil.example"):
        headers = ask(host)[1]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_a_bug_that_a_request_meets_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("Internal Server Error", 500)(scope, receive, send)  # as Starlette does
        raise ValueError("a bug")

    assert ask("localhost", app=broken)[0] == 500
    assert len(caplog.text.splitlines()) == 1
    assert "view: GET / failed: ValueError('a bug') (" in caplog.text


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{password}".encode()).decode()


def test_the_password_opens() -> None:
    assert ask("localhost", basic("öffne:dich"), password="öffne:dich")[0] == 200


@pytest.mark.parametrize(
    "authorization", ["", basic("wrong"), basic(""), "Basic !", "Basic öö", "Bearer x", "Basic"]
)
def test_nothing_else_does(authorization: str) -> None:
    status, headers = ask("localhost", authorization, password="right")
    assert status == 401
    assert headers["www-authenticate"].startswith("Basic ")
