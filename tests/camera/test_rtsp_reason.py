"""Why an RTSP camera gives no video, by its own answers."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

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


@pytest.mark.parametrize("how", ["basic", "digest"])
def test_a_wrong_password_is_told_from_a_wrong_path(how: str) -> None:
    skip_without_gstreamer()
    server = RtspServer("me:secret", how=how)
    server.start()
    try:
        assert reason_of(server.url, ("me", "secret")) is None
        assert "user or password is wrong" in str(reason_of(server.url, ("me", "other")))
        assert "at this path" in str(reason_of(f"{server.url}2", ("me", "secret")))
    finally:
        server.kill()


def test_a_login_that_is_too_long_for_ffmpeg_is_named() -> None:
    with answering() as url, pytest.raises(CameraError, match=r"user and password have 242 bytes .* up to 127"):
        LiveStream(url, "u", lambda: "Ü" * 40).open()
