"""Network cameras that send Motion JPEG over HTTP: whole pictures, some that are cut, none that is whole."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2

from tests.camera.pictures import plain
from tests.eventually import free_port

PAUSE_S = 0.04  # between two pictures


class MotionJpeg(BaseHTTPRequestHandler):
    """Sends a hundred plain pictures, as a cheap network camera does."""

    levels: tuple[int, ...] = (120,) * 100
    has_lengths = True

    def do_GET(self) -> None:
        """Answer with plain pictures."""
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
        self.end_headers()
        try:
            for number, level in enumerate(self.levels):
                jpeg = self.sent_of(number, cv2.imencode(".jpg", plain(level))[1].tobytes())
                length = f"Content-Length: {len(jpeg)}\r\n" if self.has_lengths else ""
                self.wfile.write(f"--next\r\nContent-Type: image/jpeg\r\n{length}\r\n".encode() + jpeg + b"\r\n")
                time.sleep(PAUSE_S)
        except OSError:  # the viewer has gone
            pass

    def sent_of(self, number: int, jpeg: bytes) -> bytes:
        """Return as much of a picture as is sent: all of it."""
        return jpeg

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class CutMotionJpeg(MotionJpeg):
    """Cuts every fourth picture in half."""

    def sent_of(self, number: int, jpeg: bytes) -> bytes:
        return jpeg[: len(jpeg) // 2] if number % 4 == 3 else jpeg


class NothingWhole(MotionJpeg):
    """Cuts all pictures in half but the first."""

    levels = (120,) * 1000
    has_lengths = False

    def sent_of(self, number: int, jpeg: bytes) -> bytes:
        return jpeg[: len(jpeg) // 2] if number else jpeg


@contextmanager
def serving(kind: type[MotionJpeg]) -> Iterator[str]:
    """Serve such a camera; yields the URL of its stream."""
    with ThreadingHTTPServer(("127.0.0.1", free_port()), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/video"
        server.shutdown()
