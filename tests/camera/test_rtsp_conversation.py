"""A login that edged adds to FFmpeg's requests."""

import socketserver
import threading
from collections.abc import Iterator
from hashlib import new
from urllib.request import parse_http_list, parse_keqv_list

import pytest

from edged.camera.sources.login import Login
from edged.camera.sources.network import connected
from edged.camera.sources.rtsp_conversation import RtspLogin

ODD_REALM = 'Digest realm="the \\"north\\" one", nonce="1"'
PACKET = b"$\x01\x00\x08receiver"  # a report to the camera, in channel 1
OPTIONS = b"OPTIONS rtsp://h/live RTSP/1.0\r\nCSeq: 1\r\n\r\n"
ANNOUNCE = b"ANNOUNCE rtsp://h/live RTSP/1.0\r\nCSeq: 2\r\nContent-Length: 4\r\n\r\nbody"


def given(request: bytes) -> dict[str, str]:
    """Return what the Digest of a request says."""
    line = next(each for each in request.decode().split("\r\n") if each.startswith("Authorization: Digest "))
    return parse_keqv_list(parse_http_list(line.partition("Digest ")[2]))


def right(method: str, url: str) -> str:
    """Return the response of the user me with the password secret."""
    user, request = (md5(text) for text in ('me:the "north" one:secret', f"{method}:{url}"))
    return md5(f"{user}:1:{request}")


def md5(text: str) -> str:
    return new("md5", text.encode(), usedforsecurity=False).hexdigest()


@pytest.fixture
def camera() -> Iterator[str]:
    """Ask for a login with a realm that holds quotation marks."""

    class Camera(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                request = line + b"".join(iter(self.rfile.readline, b"\r\n"))
                method, url = line.decode().split()[:2]
                is_in = b"Authorization" in request and given(request)["response"] == right(method, url)
                head = f"RTSP/1.0 {200 if is_in else 401} X\r\nWWW-Authenticate: {ODD_REALM}\r\n"
                self.wfile.write(f"{head}Content-Length: 0\r\n\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Camera) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"rtsp://127.0.0.1:{server.server_address[1]}/live"
        server.shutdown()


def test_a_realm_with_quotation_marks_is_answered(camera: str) -> None:
    with connected(camera, camera) as right_one, connected(camera, camera) as wrong_one:
        assert RtspLogin(Login("me", "secret")).is_accepted(right_one, camera)
        assert not RtspLogin(Login("me", "other")).is_accepted(wrong_one, camera)


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_requests_get_the_login_and_packets_pass_unchanged(camera: str, step: int) -> None:
    login = RtspLogin(Login("me", "secret"))
    with connected(camera, camera) as connection:
        login.is_accepted(connection, camera)
    sent = OPTIONS + PACKET + ANNOUNCE + PACKET

    got = b"".join(login.add(sent[place : place + step]) for place in range(0, len(sent), step))

    first, second, third = got.split(PACKET)
    assert given(first)["response"] == right("OPTIONS", "rtsp://h/live")
    assert given(second)["response"] == right("ANNOUNCE", "rtsp://h/live")
    assert second.endswith(b"CSeq: 2\r\nContent-Length: 4\r\n\r\nbody")
    assert third == b""


def test_a_request_without_an_end_is_refused() -> None:
    with pytest.raises(ConnectionError, match="without an end"):
        RtspLogin(Login("me", "secret")).add(b"x" * 100_000)
