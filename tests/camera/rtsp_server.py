"""A real RTSP camera: `rtsp_server.py PORT KEY_EVERY [USER:PASSWORD [basic|digest]]` serves rtsp://127.0.0.1:PORT/live.

It runs under the system's own Python, since GStreamer's bindings are not on PyPI. 320×240, 25 pictures a second,
one in KEY_EVERY a key frame; the luma of each is the monotonic clock, so that whoever receives it can tell its age
(see `tests.camera.rtsp`).
"""

import sys
import time
from typing import Any

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

PERIOD_MS = 40
PIPELINE = (
    "( appsrc name=clock is-live=true format=time do-timestamp=true "
    "caps=video/x-raw,format=I420,width=320,height=240,framerate=25/1 "
    "! x264enc tune=zerolatency speed-preset=ultrafast key-int-max={key_every} ! rtph264pay name=pay0 pt=96 )"
)


def show_time(clock: Any) -> bool:
    luma = 20 + time.monotonic_ns() // 1_000_000 // PERIOD_MS % 200
    picture = bytes([luma]) * (320 * 240) + bytes([128]) * (320 * 120)
    flow = clock.emit("push-buffer", Gst.Buffer.new_wrapped(picture))
    return bool(flow == Gst.FlowReturn.OK)  # False ends the timer: the last viewer has gone


def configure(_factory: Any, media: Any) -> None:
    clock = media.get_element().get_by_name("clock")
    GLib.timeout_add(PERIOD_MS, show_time, clock)


def main(port: str, key_every: str, credentials: str | None = None, how: str = "basic") -> None:
    Gst.init(None)
    server = GstRtspServer.RTSPServer(service=port)
    factory = GstRtspServer.RTSPMediaFactory(launch=PIPELINE.replace("{key_every}", key_every), shared=True)
    factory.connect("media-configure", configure)
    if credentials:
        auth = GstRtspServer.RTSPAuth()
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        user, password = credentials.split(":", 1)
        if how == "digest":
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(user, password, token)
        else:
            auth.add_basic(GstRtspServer.RTSPAuth.make_basic(user, password), token)
        server.set_auth(auth)
        factory.add_role_from_structure(
            Gst.Structure.new_from_string(
                "viewer, media.factory.access=(boolean)true, media.factory.construct=(boolean)true"
            )
        )
    server.get_mount_points().add_factory("/live", factory)
    server.attach(None)
    print("ready", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(*sys.argv[1:])
