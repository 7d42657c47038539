"""Teaching from the page: who may, and what a foreign page or a stranger gets."""

import logging
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from edged.config.load import password_in
from edged.view.teach_jobs import TeachJobRequest
from edged.view.teaching import MOST_SESSIONS, Teachers
from tests.eventually import eventually
from tests.view.teaching_browser import HOST, PASSWORD, Browser, teaching


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with teaching(tmp_path) as browser:
        yield browser


@pytest.mark.parametrize(
    "path", ["/teach/state", "/teach/job", "/teach/crop/ring/00.png", "/teach/seen", "/teach/seen/1.jpg"]
)
def test_a_stranger_reads_nothing(browser: Browser, path: str) -> None:
    assert browser.ask("GET", path) == (403, {"error": "Log in first."})


@pytest.mark.parametrize("what", ["start", "stop", "label", "delete", "forget", "logout"])
def test_a_stranger_changes_nothing(browser: Browser, what: str) -> None:
    assert browser.ask("POST", f"/teach/{what}", {"action": "rollback"})[0] == 403


def test_only_the_right_password_of_a_listed_user_opens(browser: Browser) -> None:
    assert browser.log_in("wrong") == 403
    assert browser.log_in(PASSWORD, user="bob") == 403
    assert browser.log_in() == 200
    assert browser.ask("GET", "/teach/session")[1]["user"] == "anna"


def test_guesses_are_slowed(browser: Browser) -> None:
    for _ in range(5):
        assert browser.log_in("wrong") == 403
    assert browser.log_in() == 429


def test_the_cookie_is_of_no_use_to_scripts_and_foreign_pages(browser: Browser) -> None:
    browser.log_in()
    assert {"httponly", "samesite=strict", "path=/teach"} <= set(browser.cookie.lower().split("; "))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://[::1"},
        {"sec-fetch-site": "cross-site"},
        {"x-edged-token": "guessed"},
    ],
)
def test_a_foreign_page_starts_nothing_through_the_browser_of_a_teacher(
    browser: Browser, headers: dict[str, str]
) -> None:
    browser.log_in()
    status, _ = browser.ask("POST", "/teach/start", {"action": "rollback"}, **headers)
    assert status == 403
    assert browser.ask("GET", "/teach/job") == (200, {})


def test_a_form_of_a_foreign_page_is_no_json(browser: Browser) -> None:
    browser.log_in()
    form = {"content-type": "text/plain"}
    assert browser.ask("POST", "/teach/start", {"action": "rollback"}, **form)[0] == 415


@pytest.mark.parametrize(
    "wanted",
    [
        {"action": "keys"},
        {"action": "record", "camera": "door", "label": "--help", "count": 1},
        {"action": "record", "camera": "door", "label": "a\0b", "count": 1},
        {"action": "record", "camera": "door", "label": "a\nb", "count": 1},
        {"action": "record", "camera": "\0", "label": "a", "count": 1},
        {"action": "record", "camera": "door", "label": "x", "count": 10**9},
        {"action": "promote", "version": "../../etc/passwd"},
        {"action": "train", "shell": "reboot"},
    ],
)
def test_what_no_action_has_is_rejected(browser: Browser, wanted: dict[str, Any]) -> None:
    browser.log_in()
    assert browser.ask("POST", "/teach/start", wanted)[0] == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 4000,
        b'{"user":' * 500,
        b"9" * 4000,
        b'{"user": "\\ud800", "password": "x"}',
        b"\xff",
        b"null",
    ],
    ids=["empty", "cut off", "deep list", "deep object", "huge number", "half a character", "no UTF-8", "null"],
)
def test_a_stranger_who_sends_no_proper_json_is_told_so(
    browser: Browser, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    status, answer = browser.send("POST", "/teach/login", body)
    assert status == 400
    assert answer["error"]
    assert caplog.text == ""


def test_a_browser_that_goes_while_it_sends_leaves_no_traceback(
    browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    half = b"POST /teach/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for rest in (b"Content-Length: 9\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n5\r\n{abcdefgh\r\n"):
        with closing(socket.create_connection((HOST, browser.port))) as peer:
            peer.sendall(half + rest)
    assert browser.log_in() == 200
    assert "Traceback" not in caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_teacher_who_logs_in_often_throws_nobody_else_out(tmp_path: Path) -> None:
    (tmp_path / "password").write_text(PASSWORD)
    teachers = Teachers(dict.fromkeys(("anna", "bob"), tmp_path / "password"), password_in)
    bob = teachers.log_in("bob", PASSWORD)
    ours = [teachers.log_in("anna", PASSWORD) for _ in range(70)]
    assert bob
    assert teachers.session(bob.cookie) is bob
    kept = [session for session in ours if session and teachers.session(session.cookie)]
    assert kept == ours[-MOST_SESSIONS:]


def test_a_body_without_end_is_rejected(browser: Browser) -> None:
    browser.log_in()
    assert browser.ask("POST", "/teach/start", {"action": "train", "label": "x" * 5000})[0] == 413


def test_who_has_logged_out_is_a_stranger(browser: Browser) -> None:
    browser.log_in()
    cookie = browser.headers["cookie"]
    assert browser.ask("POST", "/teach/logout", {})[0] == 200
    assert browser.ask("GET", "/teach/job", cookie=cookie)[0] == 403


def test_the_state_is_that_of_the_command(browser: Browser) -> None:
    browser.log_in()
    status, state = browser.ask("GET", "/teach/state")
    assert (status, state["node"], state["cameras"]) == (200, "box", ["door"])
    assert (state["labels"], state["versions"], state["promoted"], state["problem"]) == ([], [], None, "")


def test_a_job_that_fails_says_why(browser: Browser) -> None:
    browser.log_in()
    status, started = browser.ask("POST", "/teach/start", {"action": "train"})
    assert (status, started["user"], started["is_running"]) == (200, "anna", True)

    eventually(lambda: not browser.ask("GET", "/teach/job")[1]["is_running"])

    assert "no crops" in browser.ask("GET", "/teach/job")[1]["error"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"action": "record", "camera": "door", "label": "open"}, "a recording of open from door"),
        ({"action": "train"}, "a training"),
        ({"action": "shadow", "version": "3fa2"}, "version 3fa2 in shadow"),
        ({"action": "promote", "version": "3fa2"}, "a promotion of version 3fa2"),
        (
            {"action": "promote", "version": "3fa2", "force": True},
            "a promotion of version 3fa2, even if it is worse",
        ),
        ({"action": "rollback"}, "a rollback"),
    ],
)
def test_an_action_is_named_in_words(wanted: dict[str, Any], words: str) -> None:
    assert str(TeachJobRequest.model_validate(wanted)) == words


def test_an_action_of_a_teacher_is_ordinary_news(browser: Browser, caplog: pytest.LogCaptureFixture) -> None:
    browser.log_in()
    with caplog.at_level(logging.INFO):
        browser.ask("POST", "/teach/start", {"action": "train"})
    assert ("edged.view", logging.INFO, "view: anna started a training") in caplog.record_tuples


def test_options_of_an_action_are_those_of_the_command() -> None:
    request = TeachJobRequest(action="record", camera="door", label="half open", count=40)
    assert request.arguments(["edged.yaml", "--set=node=box"]) == [
        "record",
        "--set=node=box",
        "--camera=door",
        "--count=40",
        "--duration=600",
        "--label=half open",
        "--json",
        "--",
        "edged.yaml",
    ]
