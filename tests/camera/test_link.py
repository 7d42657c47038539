"""A hub that reads late: frames are let go, news is not."""

import threading
from pathlib import Path

import msgspec
import zmq

from edged.camera.hub_session import CameraLink
from edged.messages import CameraCount, CameraReport, decode
from tests.eventually import LIMIT_S, SILENCE_S
from tests.hub.frames import hello_of

REPORT = CameraReport(camera="door", up=True, count=CameraCount(captured=0, dropped={}))
LARGE = msgspec.structs.replace(REPORT, error=1_000_000 * "x")  # the kernel holds but a few of them


def test_news_waits_for_room(tmp_path: Path) -> None:
    with zmq.Context() as context, context.socket(zmq.ROUTER) as hub:
        hub.setsockopt(zmq.RCVHWM, 1)
        hub.bind(f"ipc://{tmp_path}/hub")
        link = CameraLink("door", f"ipc://{tmp_path}/hub", lambda: hello_of("door"))
        assert link.has_room(LIMIT_S)
        sent = 0
        while link.has_room(SILENCE_S):
            sent += link.send(LARGE)
        assert not link.send(REPORT)

        heard: list[bytes] = []
        late = threading.Timer(SILENCE_S, lambda: heard.extend(hub.recv_multipart()[1] for _ in range(sent + 1)))
        late.start()
        link.send_news(REPORT)

        late.join()
        link.close()
    assert decode(heard[-1]) == REPORT
