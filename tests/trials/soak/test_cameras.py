"""The cameras by which the soak makes its faults."""

from itertools import pairwise
from pathlib import Path

import av
import pytest

from edged.camera.sources.program import Program
from edged.errors import CameraError
from tests.camera.rtsp import RtspServer, skip_without_gstreamer
from tests.eventually import eventually
from trials.soak.shed import Shed


def read_to_the_end(camera: Program) -> None:
    while True:
        camera.read()


def test_the_shed_counts_its_pictures_and_can_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    shed = Shed(tmp_path)
    camera = Program(shed.config["source"])
    camera.open()
    for _ in range(3):
        camera.read()
    assert eventually(lambda: shed.sent() >= 3)

    (program,) = shed.programs()
    program.kill()
    with pytest.raises(CameraError, match="has ended"):
        read_to_the_end(camera)
    assert eventually(lambda: not shed.programs())


@pytest.mark.deep
def test_an_rtsp_camera_may_stamp_by_the_number_of_its_pictures() -> None:
    skip_without_gstreamer()
    server = RtspServer()
    server.start()
    try:
        with av.open(server.url, "r", options={"rtsp_transport": "tcp"}) as stream:
            frames = stream.decode(video=0)
            next(frames)
            server.send_every(sent_ms=50, stamped_ms=40)
            stamps_ms = [round(1000 * float(next(frames).time or 0)) for _ in range(60)]
    finally:
        server.kill()
    apart_ms = [after - before for before, after in pairwise(stamps_ms[30:])]  # some were on their way
    assert set(apart_ms) <= {39, 40, 41}
