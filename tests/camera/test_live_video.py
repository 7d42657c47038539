"""Live video that is no Motion JPEG, over HTTP: of two shapes, of AV1, with sound that goes on alone."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from threading import Event

import av
import numpy as np
import pytest

from edged.camera.sources.http_pictures import HttpCamera
from edged.errors import CameraError
from tests.camera.pictures import encoded_apart
from tests.eventually import LIMIT_S

FPS = 25
WIDE, NARROW = (320, 180), (240, 240)


def recording(
    size: tuple[int, int], codec: str = "libx264", form: str = "mpegts", *, seconds: int = 2, sound_s: float = 0
) -> bytes:
    """Return some seconds of plain pictures, and of silence."""
    file = BytesIO()
    with av.open(file, "w", format=form) as container:
        video = container.add_stream(codec, rate=FPS, options={"g": str(FPS)})
        assert isinstance(video, av.VideoStream)
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        sound = container.add_stream("mp2", rate=48_000) if sound_s else None
        for _ in range(seconds * FPS):
            picture = np.full((size[1], size[0], 3), 120, np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(video.encode())
        if isinstance(sound, av.AudioStream):
            for number in range(round(sound_s * 48_000 / 1152)):
                silence = av.AudioFrame.from_ndarray(np.zeros((1, 2 * 1152), np.int16), "s16", "stereo")
                silence.sample_rate, silence.pts = 48_000, number * 1152
                container.mux(sound.encode(silence))
    return file.getvalue()


@contextmanager
def sending(content: bytes, seconds: float) -> Iterator[str]:
    """Send `content` over so many seconds, and then nothing more; yields the URL."""
    has_ended = Event()

    class Camera(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "video/mp2t")
            self.end_headers()
            step = max(1, round(len(content) / seconds / FPS))
            for place in range(0, len(content), step):
                try:
                    self.wfile.write(content[place : place + step])
                except OSError:
                    return
                time.sleep(1 / FPS)
            has_ended.wait(LIMIT_S)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Camera) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/live.ts"
        has_ended.set()
        server.shutdown()


def shapes(camera: HttpCamera) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of the pictures until the camera fails."""
    while True:
        yield camera.read().pixels.shape


def test_a_stream_may_change_its_shape() -> None:
    with sending(recording(WIDE) + recording(NARROW), seconds=4) as url:
        camera = HttpCamera(url)
        camera.open()

        seen = shapes(camera)
        assert next(seen) == (180, 320, 3)
        assert next(shape for shape in seen if shape != (180, 320, 3)) == (240, 240, 3)

        camera.close()


@pytest.mark.deep
def test_a_stream_of_av1_is_read() -> None:
    with sending(encoded_apart(recording, WIDE, "libsvtav1", "matroska", seconds=8), seconds=8) as url:
        camera = HttpCamera(url)
        camera.open()

        assert camera.read().pixels.mean() == pytest.approx(120, abs=2)

        camera.close()


@pytest.mark.deep
def test_sound_without_pictures_is_a_stall() -> None:
    with sending(recording(WIDE, sound_s=60), seconds=20) as url:
        camera = HttpCamera(url, timeout_s=1)
        camera.open()

        with pytest.raises(CameraError, match="has stalled: no picture for 1 s"):
            for _ in shapes(camera):
                pass


def test_what_is_no_video_is_refused_with_the_reason_of_ffmpeg() -> None:
    with (
        sending(b"no video" * 100_000, seconds=0.1) as url,
        pytest.raises(CameraError, match="gives no video: FFmpeg reports: Invalid data"),
    ):
        HttpCamera(url, timeout_s=1).open()


@pytest.mark.parametrize(("path", "seconds"), [("live.m3u8", 10), ("video", 2)])
def test_a_playlist_has_longer_to_open(path: str, seconds: float) -> None:
    assert HttpCamera(f"http://camera/{path}").longest_wait_s == seconds
