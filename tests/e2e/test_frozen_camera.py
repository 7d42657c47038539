"""A network camera whose picture stands still, and one that moves again."""

import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.camera.test_stream import MotionJpeg
from tests.e2e.daemon import START_S
from tests.e2e.test_camera_faults import watched
from tests.eventually import eventually, free_port


class Freezes(MotionJpeg):
    """For three seconds."""

    levels = (120,) * 75 + tuple(range(50, 150))


@pytest.mark.deep
def test_a_frozen_picture_is_announced_and_the_other_camera_goes_on(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", free_port()), Freezes) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        gate = {"source": f"http://127.0.0.1:{server.server_port}/video", "frozen_s": 1}
        with watched(tmp_path, gate=gate) as (_, witness):
            eventually(lambda: witness.of("gate"), START_S)
            assert "same picture" in witness.hears("camera_frozen", "gate").message
            assert witness.seconds_until("edged_camera_frozen", "gate", 1) < START_S
            assert witness.hears("camera_unfrozen", "gate").at > witness.hears("camera_frozen", "gate").at
            assert witness.seconds_until("edged_camera_frozen", "gate", 0) < START_S
            assert not witness.told("camera_frozen", "calm")
        server.shutdown()
