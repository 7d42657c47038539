"""Ask an RTSP camera why it gives no video: FFmpeg reports a status at most."""

import re
import socket
from collections.abc import Callable
from urllib.parse import urljoin

from edged.camera.sources.login import login_of, without_user
from edged.camera.sources.rtsp_conversation import TO_DESCRIBE, RtspConversation

CODECS = frozenset({"AV1", "H261", "H263", "H263-1998", "H264", "H265", "JPEG", "MP4V-ES", "VP8", "VP9"})
REASONS = {
    403: "it forbids this user to see its video (403)",
    404: "it has no video at this path (404)",
    454: "it ended the session (454): are there too many viewers?",
    461: "it offers RTP over UDP only (461), and edged reads RTP over TCP: set TCP or interleaved in the camera",
}


def reason_of(url: str, login: tuple[str | None, str | None], connect: Callable[[], socket.socket]) -> str | None:
    """Return in words why the camera at `url` refuses video, or None if it does not.

    `login`: user and password. `connect`: makes a connection. Raises OSError.
    """
    bare = without_user(url)
    with connect() as connection:
        camera = RtspConversation(connection, login_of(url, *login))
        status, head, body = camera.ask("DESCRIBE", bare, TO_DESCRIBE)
        if status != 200:
            return _sentence(status, has_login=camera.login is not None)
        if not (track := re.search(r"(?ms)^m=video .*?(?=^m=|\Z)", body)):
            return "its stream holds no video"
        if (codec := re.search(r"(?m)^a=rtpmap:\d+ ([\w-]+)/", track[0])) and codec[1].upper() not in CODECS:
            return f"edged does not know its codec, {codec[1][:20]}: set H.264 or H.265 in the camera"
        base = re.search(r"(?im)^content-base: *(\S+)", head)
        control = re.search(r"(?m)^a=control:(\S+)", track[0])
        track_url = urljoin(base[1] if base else f"{bare.rstrip('/')}/", control[1] if control else "")
        status, _, _ = camera.ask("SETUP", track_url, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        return None if status == 200 else _sentence(status, has_login=camera.login is not None)


def _sentence(status: int, *, has_login: bool) -> str:
    if status == 401:
        return "its user or password is wrong (401)" if has_login else "it asks for a user and password (401)"
    return REASONS.get(status, f"it answers with the RTSP status {status}")
