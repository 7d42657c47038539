"""Why an RTSP camera gives no video, by its own answers."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5, sha256
from urllib.request import parse_http_list, parse_keqv_list

import pytest

from edged.camera.sources.login import Login
from edged.camera.sources.network import connected
from edged.camera.sources.rtsp_reason import reason_of
from edged.camera.sources.stream import LiveStream
from edged.errors import CameraError
from tests.camera.rtsp import RtspServer, skip_without_gstreamer

VIDEO = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:v\r\n"


@contextmanager
def answering(**answers: str) -> Iterator[str]:
    """Serve a camera that gives to each method a status, or 200 and a description; yields its URL."""

    class Camera(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while request := self.rfile.readline().decode():
                headers = list(iter(self.rfile.readline, b"\r\n"))
                count = next(line for line in headers if line.startswith(b"CSeq"))
                answer = answers.get(request.split()[0], "")
                status, body = (answer, "") if answer.isdigit() else ("200", answer)
                head = f"RTSP/1.0 {status} X\r\n{count.decode().strip()}\r\nContent-Type: application/sdp\r\n"
                self.wfile.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Camera) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"rtsp://127.0.0.1:{server.server_address[1]}/live"
        server.shutdown()


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"DESCRIBE": "401"}, "asks for a user and password"),
        ({"DESCRIBE": "403"}, "forbids this user"),
        ({"DESCRIBE": "404"}, "no video at this path"),
        ({"DESCRIBE": "503"}, "the RTSP status 503"),
        ({"DESCRIBE": VIDEO, "SETUP": "461"}, "RTP over UDP only"),
        ({"DESCRIBE": VIDEO.replace("video", "audio")}, "holds no video"),
        ({"DESCRIBE": VIDEO.replace("H264", "X9")}, "does not know its codec, X9"),
    ],
)
def test_a_refusal_is_told_in_the_words_of_its_reason(answers: dict[str, str], reason: str) -> None:
    with answering(**answers) as url, pytest.raises(CameraError, match=f"gives no video: .*{reason}"):
        LiveStream(url).open()


def reason(url: str, password: str) -> str | None:
    return reason_of(url, ("me", password), lambda: connected(url, url))


@pytest.mark.parametrize("how", ["basic", "digest"])
def test_a_wrong_password_is_told_from_a_wrong_path(how: str) -> None:
    skip_without_gstreamer()
    server = RtspServer("me:secret", how=how)
    server.start()
    try:
        assert reason(server.url, "secret") is None
        assert "user or password is wrong" in str(reason(server.url, "other"))
        assert "at this path" in str(reason(f"{server.url}2", "secret"))
    finally:
        server.kill()


SHA_256 = (
    'Digest realm="Camera", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", algorithm=SHA-256, qop="auth"'
)


@pytest.mark.parametrize(
    "challenge", [SHA_256, SHA_256.replace("SHA-256", "MD5"), SHA_256.replace(', qop="auth"', "")]
)
def test_a_digest_is_what_a_camera_computes(challenge: str) -> None:
    login = Login("me", "secret")
    login.apply_challenges([challenge])
    header = str(login.authorization("rtsp://h/live", "DESCRIBE"))
    given = parse_keqv_list(parse_http_list(header.removeprefix("Digest ")))
    hashed = sha256 if "SHA-256" in challenge else md5
    first = hashed(b"me:Camera:secret").hexdigest()
    second = hashed(b"DESCRIBE:rtsp://h/live").hexdigest()
    middle = f"{given['nc']}:{given['cnonce']}:{given['qop']}:" if "qop" in challenge else ""
    assert given["response"] == hashed(f"{first}:{given['nonce']}:{middle}{second}".encode()).hexdigest()
