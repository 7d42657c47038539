"""RTSP from a real server, with the faults that a network camera has; Motion JPEG over HTTP."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cv2
import pytest

from edged.camera.sources.stream import Stream
from edged.clock import now_ns
from edged.errors import CameraError
from edged.messages import CameraReport
from tests.camera.hub_end import CameraRun, Received, running_camera, unaccounted
from tests.camera.pictures import plain
from tests.camera.rtsp import RtspServer, age_s, skip_without_gstreamer
from tests.eventually import eventually, free_port

FRESH_S = 0.5


@pytest.fixture
def server() -> Iterator[RtspServer]:
    """Not started yet."""
    skip_without_gstreamer()
    server = RtspServer()
    yield server
    server.kill()


def age_of(received: Received) -> float:
    """Of a frame, when it was captured."""
    return age_s(received.pixels, received.frame.captured_ns)


def down_report(camera: CameraRun) -> CameraReport | None:
    """The newest report, if it says that the camera is down."""
    report = camera.hub.last_report()
    return report if report and report.error and not report.up else None


def test_frames_are_fresh_from_the_first_on(server: RtspServer) -> None:
    server.start()
    stream = Stream(server.url)
    stream.open()

    ages = [age_s(stream.read().pixels, now_ns()) for _ in range(25)]

    stream.close()
    assert max(ages) < FRESH_S


def test_a_password_opens_the_stream_and_is_in_no_message() -> None:
    skip_without_gstreamer()
    server = RtspServer("me:s3/c@t:")
    server.start()
    try:
        stream = Stream(server.url, "me", "s3/c@t:")
        stream.open()
        assert stream.read().pixels.shape == (240, 320, 3)
        stream.close()

        with pytest.raises(CameraError) as error:
            Stream(f"{server.url}?token=abc", "me", "wrong").open()
    finally:
        server.kill()
    assert str(error.value).startswith(f"{server.url} gives no video")
    assert "wrong" not in str(error.value).replace("password is wrong", "")


def test_a_killed_server_is_noticed_and_found_again(server: RtspServer, tmp_path: Path) -> None:
    server.start()
    with running_camera(tmp_path, "door", f"{{source: '{server.url}'}}") as camera:
        eventually(lambda: camera.hub.has_frames(10), within_s=10)

        server.kill()
        report = eventually(lambda: down_report(camera))
        assert report
        assert server.url in str(report.error)

        server.start()
        before = len(camera.hub.frames)
        eventually(lambda: camera.hub.has_frames(before + 10), within_s=15)
        report = camera.stop()

    assert report.reconnects == 1
    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert max(map(age_of, camera.hub.frames)) < FRESH_S


def test_a_stalled_server_gives_no_stale_frames(server: RtspServer, tmp_path: Path) -> None:
    server.start()
    with running_camera(tmp_path, "door", f"{{source: '{server.url}'}}") as camera:
        eventually(lambda: camera.hub.has_frames(10), within_s=10)

        server.stall()
        report = eventually(lambda: down_report(camera))
        assert report
        assert "stalled" in str(report.error)

        server.go_on()
        before = len(camera.hub.frames)
        eventually(lambda: camera.hub.has_frames(before + 10), within_s=20)
        report = camera.stop()

    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert max(map(age_of, camera.hub.frames)) < FRESH_S


def test_an_address_where_nobody_listens_is_tried_again(server: RtspServer, tmp_path: Path) -> None:
    with running_camera(tmp_path, "door", f"{{source: '{server.url}', user: me}}") as camera:
        report = eventually(lambda: down_report(camera))
        assert report
        assert report.error
        assert report.error.startswith(f"{server.url} gives no video")

        server.start()
        eventually(lambda: camera.hub.has_frames(5), within_s=15)


class MotionJpeg(BaseHTTPRequestHandler):
    """What a cheap network camera sends, for a hundred pictures."""

    def do_GET(self) -> None:
        """Answer with pictures of one grey."""
        jpeg = cv2.imencode(".jpg", plain(120))[1].tobytes()
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
        self.end_headers()
        pause = threading.Event()
        try:
            for _ in range(100):
                head = f"--next\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
                self.wfile.write(head.encode() + jpeg + b"\r\n")
                pause.wait(0.04)
        except OSError:  # the viewer has gone
            pass

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_motion_jpeg_over_http_is_read() -> None:
    with ThreadingHTTPServer(("127.0.0.1", free_port()), MotionJpeg) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stream = Stream(f"http://127.0.0.1:{server.server_port}/video")
        stream.open()

        level = stream.read().pixels.mean()

        stream.close()
        server.shutdown()
    assert level == pytest.approx(120, abs=2)
