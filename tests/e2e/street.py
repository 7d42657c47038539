"""A network camera that may freeze, or show nothing."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer

from tests.camera.motion_jpeg import MotionJpeg
from tests.eventually import free_port

PAUSE_S = 0.1


class StreetCamera(ThreadingHTTPServer):
    """Motion JPEG, ten pictures a second."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", free_port()), _Pictures)
        self.is_frozen = False
        self.is_away = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/video"


class _Pictures(MotionJpeg):
    server: StreetCamera

    @property
    def levels(self) -> Iterator[int]:  # type: ignore[override]
        """Of grey; the same one while it is frozen, and none while it is away."""
        level = 50
        while not self.server.is_away:
            level = level if self.server.is_frozen else 50 + (level - 49) % 150
            yield level
            time.sleep(PAUSE_S)


@contextmanager
def street_camera() -> Iterator[StreetCamera]:
    with StreetCamera() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.is_away = True
        server.shutdown()
