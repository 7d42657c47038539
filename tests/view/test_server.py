"""The view with real connections: of the owner, and of peers that would keep him out."""

import logging
import socket
import ssl
import time
from base64 import b64encode
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from edged.web.limits import ConnectionLimits
from tests.e2e.certificates import new_authority, new_certificate
from tests.eventually import eventually
from tests.view.opened_view import HOST, SOON, serving
from tests.view.published import arrival, status

OTHER_HOST = "127.0.0.2"
PASSWORD = "let me in"  # noqa: S105 - of no other view


def is_disconnected(peer: socket.socket) -> bool:
    """Whether the view has ended this connection, after whatever it has sent."""
    try:
        while peer.recv(65536):
            pass
    except ConnectionError:
        return True
    return True


def basic(password: str) -> str:
    return "Basic " + b64encode(f"me:{password}".encode()).decode()


HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", "silent"),
        (HALF, "slow"),
        pytest.param(HALF + b"Content-Length: 9\r\n\r\nabc", "slow", marks=pytest.mark.deep),
        pytest.param(HALF + b"\r\n" + HALF, "slow", marks=pytest.mark.deep),
        pytest.param(
            b"GET /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc",
            "slow",
            marks=pytest.mark.deep,
        ),
        (b"nonsense\r\n\r\n", "malformed"),
    ],
)
def test_a_request_that_is_not_finished_ends_the_connection(
    sent: bytes, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with serving() as view, closing(view.connect(sent)) as peer, caplog.at_level(logging.DEBUG):
        assert is_disconnected(peer)
        assert view.has_disconnected(**{reason: 1})
    assert f"view: {HOST}: disconnected: " in caplog.text


def test_a_request_that_comes_in_drops_ends_the_connection_too() -> None:
    with serving() as view, closing(view.connect()) as peer:
        with pytest.raises(ConnectionError):
            drip(peer, b"GET / HTTP/1.1\r\nX: " + b"x" * 200)
        assert view.has_disconnected(slow=1)


def drip(peer: socket.socket, request: bytes) -> None:
    """A byte at a time, twenty a second."""
    for byte in request:
        peer.sendall(bytes([byte]))
        time.sleep(0.05)


@pytest.mark.parametrize("path", ["/picture/a/b/" + "9" * 5000, "/picture/a/b/x", "/picture/%00/%00/1"])
def test_a_picture_that_no_view_has_is_no_error(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with serving() as view, view.get(path) as answer:
        assert answer.status == 204
    assert "failed" not in caplog.text


def test_half_requests_do_not_keep_out_the_owner() -> None:
    with serving(ConnectionLimits(request_s=60)) as view, ExitStack() as peers:
        for _ in range(140):
            peers.enter_context(closing(view.connect(HALF)))
        with view.get() as answer:
            assert answer.status == 200
        assert view.has_disconnected(too_many=140 + 1 - 64)


def test_one_address_does_not_take_the_places_of_another() -> None:
    with serving(SOON) as view, ExitStack() as peers:
        with view.get("/events", OTHER_HOST) as events:
            assert events.readline() == b"event: node\n"
            streams = [peers.enter_context(closing(view.connect(EVENTS))) for _ in range(40)]
            assert all(is_disconnected(peer) for peer in streams[:20])
            for _ in range(10):
                assert events.readline()
        with view.get("/", OTHER_HOST) as answer:
            assert answer.status == 200


EVENTS = b"GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def test_who_looks_on_last_gets_the_events_where_all_places_are_taken() -> None:
    with serving(SOON) as view, ExitStack() as peers:
        first = peers.enter_context(closing(view.connect(EVENTS)))
        for _ in range(SOON.viewers):
            peers.enter_context(closing(view.connect(EVENTS)))
        with view.get("/events") as events:
            assert events.readline() == b"event: node\n"
        assert is_disconnected(first)


@pytest.mark.parametrize("path", ["/events", "/style.css"])
def test_a_peer_that_does_not_read_is_disconnected(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with serving(SOON) as view:
        view.watcher.add(status("door"), time.monotonic())
        request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with closing(view.connect(request * 100)) as peer, caplog.at_level(logging.WARNING):

            def is_logged() -> bool:
                now_s = time.monotonic()
                view.watcher.add(arrival(int(now_s * 1000), "x" * 50_000), now_s)
                return "does not read" in caplog.text

            eventually(is_logged)
            assert is_disconnected(peer)
        assert view.has_disconnected(stalled=1)


def test_half_a_handshake_of_tls_ends(tmp_path: Path) -> None:
    new_authority(tmp_path, "authority")
    new_certificate(tmp_path, "board", "authority")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "board.crt", tmp_path / "board.key")
    trust = ssl.create_default_context(cafile=tmp_path / "authority.crt")
    with serving(SOON, tls=context) as view:
        for start in (b"", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.0\r\n\r\n"):
            with closing(view.connect(start)) as peer:
                assert is_disconnected(peer)
        with closing(trust.wrap_socket(view.connect(), server_hostname=HOST)) as owner:
            owner.sendall(HALF + b"Connection: close\r\n\r\n")
            assert owner.recv(15) == b"HTTP/1.1 200 OK"


def test_guesses_are_slowed_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with serving(password=PASSWORD) as view, caplog.at_level(logging.INFO):
        since_s, statuses = time.monotonic(), []
        for number in range(200):
            with view.get(authorization=basic(f"guess {number}")) as answer:
                statuses.append(answer.status)
        lasted_s = time.monotonic() - since_s
        looked_at = statuses.count(401)
        assert set(statuses) == {401, 429}
        assert 5 <= looked_at <= 6 + lasted_s
        with view.get("/", OTHER_HOST, authorization=basic(PASSWORD)) as answer:
            assert answer.status == 200
        assert len(caplog.records) <= 4
        eventually(lambda: f"view: {HOST}: sent too many wrong passwords" in caplog.text)


def test_a_browser_that_has_logged_in_is_not_shut_out_by_guesses_from_its_address() -> None:
    with serving(password=PASSWORD) as view:
        with view.get(authorization=basic(PASSWORD)) as answer:
            cookie = str(answer.headers["set-cookie"]).partition(";")[0]
        for _ in range(10):
            with view.get(authorization=basic("wrong")) as answer:
                assert answer.status in {401, 429}
        with view.get(authorization=basic(PASSWORD)) as answer:
            assert answer.status == 429
        with view.get(authorization=basic(PASSWORD), cookie=cookie) as answer:
            assert answer.status == 200
        with view.get(cookie=cookie) as answer:
            assert answer.status == 401  # it stands for no password


def test_connections_without_the_password_make_room_first() -> None:
    with serving(SOON, password=PASSWORD) as view, ExitStack() as peers:
        events = peers.enter_context(view.get("/events", authorization=basic(PASSWORD)))
        for _ in range(3 * SOON.connections):
            peers.enter_context(closing(view.connect(HALF)))
        for _ in range(10):
            assert events.readline()
