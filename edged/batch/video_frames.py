"""Sections of a video and their frames, decoded from the beginning: seeking is not exact in all formats."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edged.camera.sources.video_file import VideoFile
from edged.errors import CameraError
from edged.pictures.prepare import Pixels

MOST_FRAMES = 10**9  # a file that claims more does not know how many it has


@dataclass(frozen=True)
class VideoSection:
    """Every `stride`-th frame of a video from `first`: `count` of them, or None for all to its end.

    `expected`: how many that probably are.
    """

    name: str
    captured_at: float | None
    first: int
    count: int | None
    stride: int
    expected: int


@dataclass(frozen=True, eq=False)
class VideoFrame:
    """A frame of a video, counted from 0, at so many seconds from its beginning."""

    number: int
    at_s: float
    pixels: Pixels


def sections_of(
    root: Path, name: str, captured_at: float | None, size: int, stride: int
) -> Iterator[VideoSection]:
    """Yield sections of `size` answers. The last one is open: the file only estimates how many frames it has."""
    answers = -(-_estimated_frames(root / name) // stride)
    last = max(0, answers - 1) // size
    for number in range(last):
        yield VideoSection(name, captured_at, number * size * stride, size, stride, size)
    yield VideoSection(name, captured_at, last * size * stride, None, stride, max(1, answers - last * size))


class VideoReader:
    """Reads sections of videos. One that follows the section before, in the same video, is read on from there."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._name = ""
        self._video: VideoFile | None = None
        self._next = 0

    def frames_of(self, section: VideoSection) -> Iterator[VideoFrame]:
        """Yield the frames of a section. Raises CameraError."""
        video = self._opened(section)
        if not self._skip(video, section.first - self._next):
            return
        number = section.first
        while section.count is None or number < section.first + section.count * section.stride:
            if (picture := video.read()) is None:
                return
            self._next = number + 1
            yield VideoFrame(number, video.at_s, picture.pixels)
            number += section.stride
            if not self._skip(video, number - self._next):
                return

    def close(self) -> None:
        if self._video:
            self._video.close()
        self._video = None

    def _opened(self, section: VideoSection) -> VideoFile:
        if self._video and self._name == section.name and self._next <= section.first:
            return self._video
        self.close()
        video = VideoFile(self._root / section.name, realtime=False)
        video.open()
        self._video, self._name, self._next = video, section.name, 0
        return video

    def _skip(self, video: VideoFile, count: int) -> bool:
        """Skip so many frames; False at the end."""
        skipped = video.skip(count)
        self._next += skipped
        return skipped == count


def _estimated_frames(path: Path) -> int:
    """Return how many frames a video says it has; 0 if it does not say, or cannot be read."""
    video = VideoFile(path, realtime=False)
    try:
        video.open()
    except CameraError:
        return 0
    frames = video.estimated_frames
    video.close()
    return frames if 0 < frames < MOST_FRAMES else 0
