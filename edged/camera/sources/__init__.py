"""Sources of pictures, one file a kind, and the choice between them."""

from pathlib import Path
from typing import Literal

from edged import config
from edged.camera.sources.folder import Folder
from edged.camera.sources.source import Source
from edged.camera.sources.stream import Stream
from edged.camera.sources.v4l2 import V4l2
from edged.camera.sources.video_file import VideoFile
from edged.config_file import password_of
from edged.errors import CameraError

Kind = Literal["v4l2", "stream", "video", "folder", "synthetic"]

STREAMS = ("rtsp", "rtsps", "http", "https")
VIDEO_SUFFIXES = frozenset({".avi", ".m4v", ".mjpeg", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm"})
DIGITS = "synthetic:digits"
SYNTHETIC_SIZE = (640, 480)
USUAL_FPS = 30.0  # of a synthetic camera, and of a folder that is to be read in real time


def open_source(name: str, camera: config.Camera) -> Source:
    """The source of the camera `name`, still to be opened. Raises CameraError for one of no known kind."""
    place = str(camera.source)
    loop = camera.at_end == "loop"
    fps = camera.fps or USUAL_FPS
    match _kind(name, place):
        case "v4l2":
            return V4l2(int(place) if place.isdigit() else place, camera.size, camera.fps)
        case "stream":
            return Stream(place, camera.user, password_of(camera))
        case "video":
            return VideoFile(Path(place), realtime=not waits(name, camera), loop=loop)
        case "folder":
            return Folder(Path(place), None if waits(name, camera) else fps, loop)
        case "synthetic":
            from edged.camera.sources.synthetic import SyntheticDigits

            return SyntheticDigits(*(camera.size or SYNTHETIC_SIZE), fps, camera.seed)


def waits(name: str, camera: config.Camera) -> bool:
    """Whether every picture waits for its turn, instead of the newest taking the place of an older one."""
    kind = _kind(name, str(camera.source))
    fast = camera.pace == "fast" or (camera.pace == "auto" and kind == "folder")
    return fast and kind in ("video", "folder")


def _kind(name: str, text: str) -> Kind:
    path = Path(text)
    if text.isdigit() or text.startswith("/dev/"):
        return "v4l2"
    if text.startswith("synthetic:"):
        return _synthetic(name, text)
    if "://" in text:
        return _stream(name, text)
    if path.is_dir():
        return "folder"
    if path.is_file() or path.suffix.lower() in VIDEO_SUFFIXES:
        return "video"
    raise _unknown(name, text)


def _synthetic(name: str, text: str) -> Kind:
    if text != DIGITS:
        raise CameraError(f"camera {name}: no synthetic camera draws {text!r}; there is {DIGITS}")
    return "synthetic"


def _stream(name: str, url: str) -> Kind:
    scheme = url.partition("://")[0].lower()
    if scheme not in STREAMS:
        raise CameraError(f"camera {name}: {scheme}:// is not supported; {', '.join(STREAMS)} are")
    return "stream"


def _unknown(name: str, text: str) -> CameraError:
    return CameraError(
        f"camera {name}: the source {text!r} does not exist; a source is a V4L2 index or path "
        f"(0, /dev/v4l/by-id/…), a rtsp:// or http:// URL, a video file, a folder of pictures, or {DIGITS}"
    )
