"""Start, stop and stall a real RTSP server, and tell the age of its pictures."""

import signal
import subprocess
from pathlib import Path

import pytest

from edged.pictures.prepare import Pixels
from tests.eventually import free_port

SYSTEM_PYTHON = "/usr/bin/python3"  # GStreamer's bindings are Debian's
SERVER = Path(__file__).with_name("rtsp_server.py")
PICTURE_MS, LEVELS, DARKEST = 40, 200, 20  # as in rtsp_server.py


class RtspServer:
    """One server at one port, which may be started and killed again and again."""

    def __init__(self, credentials: str | None = None, key_every: int = 100, how: str = "basic") -> None:
        """`credentials`: user:password; `how`: basic or digest. `key_every`: pictures per key frame."""
        self.port = free_port()
        self.url = f"rtsp://127.0.0.1:{self.port}/live"
        self._key_every = str(key_every)
        self._credentials = [credentials, how] if credentials else []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it listens."""
        command = [SYSTEM_PYTHON, str(SERVER), str(self.port), self._key_every, *self._credentials]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == b"ready\n"

    def send_every(self, sent_ms: int, stamped_ms: int) -> None:
        """Send present viewers a picture each `sent_ms`, stamped `stamped_ms` later than the one before."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(f"{sent_ms} {stamped_ms}\n".encode())
        self._process.stdin.flush()

    def stall(self) -> None:
        """Stop answering, with every connection open."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Take up again."""
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Go without a word."""
        if self._process:
            self._process.kill()
            self._process.communicate()
        self._process = None


def has_gstreamer() -> bool:
    """Whether the server can run here."""
    check = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
    try:
        return subprocess.run([SYSTEM_PYTHON, "-c", check], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def skip_without_gstreamer() -> None:
    """In CI a skip for this reason fails: the packages are installed there."""
    if not has_gstreamer():
        pytest.skip("no RTSP server: apt-get install python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-rtsp …")


def age_s(pixels: Pixels, seen_ns: int) -> float:
    """How long before `seen_ns` the server made the picture, modulo 8 s; to about 0.05 s."""
    luma = float(pixels.mean()) * 219 / 255 + 16  # ITU-R BT.601, video range
    made_ms = (luma - DARKEST) * PICTURE_MS
    period_ms = LEVELS * PICTURE_MS
    age_ms = (seen_ns / 1e6 - made_ms + PICTURE_MS) % period_ms - PICTURE_MS
    return age_ms / 1000
