"""Sources of pictures, one file a kind, and the choice between them."""

from pathlib import Path
from typing import Literal

from edged import config
from edged.camera.sources.folder import Folder
from edged.camera.sources.source import DIGITS, KINDS, Source
from edged.camera.sources.stream import Stream
from edged.camera.sources.v4l2 import V4l2
from edged.camera.sources.video_file import VideoFile
from edged.config_file import password_of
from edged.errors import ConfigError

Kind = Literal["v4l2", "stream", "video", "folder", "synthetic"]

STREAMS = ("rtsp://", "rtsps://", "http://", "https://")
VIDEO_SUFFIXES = frozenset({".avi", ".m4v", ".mjpeg", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm"})
SYNTHETIC_SIZE = (640, 480)
USUAL_FPS = 30.0  # of a synthetic camera, and of a folder that is to be read in real time


def open_source(name: str, camera: config.Camera) -> Source:
    """The source of the camera `name`, still to be opened. Raises ConfigError for one of no known kind."""
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
    if text == DIGITS:
        return "synthetic"
    if text.lower().startswith(STREAMS):
        return "stream"
    if not path.exists() and (text.startswith("synthetic:") or "://" in text):
        raise ConfigError(f"camera {name}: {text!r} is no source that is known; there are {KINDS}")
    return "video" if path.is_file() or path.suffix.lower() in VIDEO_SUFFIXES else "folder"
