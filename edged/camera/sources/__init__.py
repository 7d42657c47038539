"""Sources of pictures, one module for each kind, and the choice between them."""

import os
from functools import partial
from pathlib import Path
from typing import Literal

from edged import config
from edged.camera.sources.folder import Folder
from edged.camera.sources.http_pictures import HttpCamera
from edged.camera.sources.source import Sleep, Source, sleep_ns
from edged.camera.sources.stream import LiveStream
from edged.camera.sources.v4l2 import V4l2
from edged.config.load import password_of
from edged.errors import CameraError, ConfigError

Kind = Literal["v4l2", "stream", "program", "video", "folder", "synthetic"]

VIDEO_SUFFIXES = frozenset({".avi", ".m4v", ".mjpeg", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm"})
SYNTHETIC_SIZE = (640, 480)
USUAL_FPS = 30.0  # frames per second of a synthetic camera, and of a folder that is read in real time


def open_source(camera: config.CameraConfig, sleep: Sleep = sleep_ns) -> Source:
    """Create the source of a camera, not yet opened; one that keeps a rate waits by calling `sleep`."""
    place = str(camera.source)
    loop = camera.at_end == "loop"
    fps = camera.fps or USUAL_FPS
    match _kind(place):
        case "v4l2":
            device = int(place) if place.isdigit() else place
            return V4l2(device, camera.size, camera.fps, camera.format)
        case "stream":
            return _network_camera(camera, sleep)
        case "program":
            from edged.camera.sources.program import Program

            return Program(place, *((camera.timeout_s,) * 2 if camera.timeout_s else ()))
        case "video":
            from edged.camera.sources.video_file import VideoFile

            return VideoFile(Path(place), realtime=not is_paced_by_grants(camera), loop=loop, sleep=sleep)
        case "folder":
            return Folder(Path(place), None if is_paced_by_grants(camera) else fps, loop, sleep)
        case "synthetic":
            from edged.camera.sources.synthetic import Synthetic

            subject = place.removeprefix(config.SYNTHETIC_PREFIX)
            return Synthetic(*(camera.size or SYNTHETIC_SIZE), fps, camera.seed, sleep, subject=subject)


def _network_camera(camera: config.CameraConfig, sleep: Sleep) -> Source:
    url, password = str(camera.source), partial(_password, camera)
    if url.lower().startswith("http"):
        return HttpCamera(
            url, camera.user, password, camera.tls, poll_s=camera.poll_s, timeout_s=camera.timeout_s, sleep=sleep
        )
    return LiveStream(url, camera.user, password, camera.tls, camera.timeout_s)


def _password(camera: config.CameraConfig) -> str | None:
    try:
        return password_of(camera)
    except ConfigError as error:
        raise CameraError(str(error)) from None


def is_paced_by_grants(camera: config.CameraConfig) -> bool:
    """Return whether each picture waits for a grant, instead of being replaced by a newer one."""
    kind = _kind(str(camera.source))
    fast = camera.pace == "fast" or (camera.pace == "auto" and kind == "folder" and camera.fps is None)
    return fast and kind in ("video", "folder")


def is_live(camera: config.CameraConfig) -> bool:
    """Return whether the pictures come from a camera, which may freeze, and not from a file or a generator."""
    return _kind(str(camera.source)) in ("v4l2", "stream", "program")


def _kind(place: str) -> Kind:
    path = Path(place)
    if place.isdigit() or place.startswith("/dev/"):
        return "v4l2"
    if place.startswith(config.SYNTHETIC_PREFIX):
        return "synthetic"
    if place.startswith(config.PROGRAM_PREFIX):
        return "program"
    if place.lower().startswith(config.STREAMS):
        return "stream"
    return "video" if os.path.isfile(path) or is_video_name(path.name) else "folder"


def is_video_name(name: str) -> bool:
    """Return whether the suffix of a file's name is that of a video."""
    return os.path.splitext(name)[1].lower() in VIDEO_SUFFIXES
