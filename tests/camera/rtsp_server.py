"""A real RTSP camera: `rtsp_server.py PORT KEY_EVERY [USER:PASSWORD [basic|digest]]` serves rtsp://127.0.0.1:PORT/live.

It runs under the system's own Python, since GStreamer's bindings are not on PyPI. 320×240, 25 pictures a second,
one in KEY_EVERY a key frame; the luma of each is the monotonic clock, so that whoever receives it can tell its age
(see `tests.camera.rtsp`). A line `SENT_MS STAMPED_MS` on its standard input sets the rate and that of the stamps.
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


class Sender:
    """Sends pictures at a rate, stamped by the clock or, once `send_every` was called, by their number."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._stamp: int | None = None  # nanoseconds of the pipeline's time
        self._stamped_ms = PERIOD_MS
        self._timer = GLib.timeout_add(PERIOD_MS, self._show_time)

    def send_every(self, sent_ms: int, stamped_ms: int) -> None:
        """Send a picture each `sent_ms`, stamped `stamped_ms` later than the one before."""
        if self._stamp is None:
            self._clock.set_property("do-timestamp", False)
            self._stamp = self._clock.get_current_running_time()
        self._stamped_ms = stamped_ms
        GLib.source_remove(self._timer)
        self._timer = GLib.timeout_add(sent_ms, self._show_time)

    def _show_time(self) -> bool:
        luma = 20 + time.monotonic_ns() // 1_000_000 // PERIOD_MS % 200
        picture = Gst.Buffer.new_wrapped(bytes([luma]) * (320 * 240) + bytes([128]) * (320 * 120))
        if self._stamp is not None:
            self._stamp += self._stamped_ms * Gst.MSECOND
            picture.pts = self._stamp
        flow = self._clock.emit("push-buffer", picture)
        if flow != Gst.FlowReturn.OK and self in SENDERS:
            SENDERS.remove(self)
        return self in SENDERS  # False ends the timer: the last viewer has gone


SENDERS: list[Sender] = []


def configure(_factory: Any, media: Any) -> None:
    SENDERS.append(Sender(media.get_element().get_by_name("clock")))


def obey(lines: Any, _condition: Any) -> bool:
    """Read one line of two numbers, for `Sender.send_every`; False at the end."""
    line = lines.readline()
    for sender in SENDERS if line else []:
        sender.send_every(*map(int, line.split()))
    return bool(line)


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
    GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, obey)
    print("ready", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(*sys.argv[1:])
