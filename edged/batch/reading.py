"""Read the pictures of a chunk in threads, ahead of the device."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import repeat, takewhile
from pathlib import Path
from typing import TypeVar

from edged.batch.chunks import ArchiveChunk, ListedPicture
from edged.batch.video_frames import VideoFrame, VideoReader, VideoSection
from edged.errors import CameraError, ImageError
from edged.model.package import Input
from edged.pictures.decode import read_picture
from edged.pictures.prepare import Pixels, prepare
from edged.runtime.jobs import Prepared

T = TypeVar("T")

MOST_READERS = 4
AHEAD = 4  # pictures for each thread


@dataclass(frozen=True, eq=False)
class PreparedPicture:
    """A picture as the network takes it, or why there is none. `frame`, `at_s`: its place in a video.

    size: its width and height, before it was prepared.
    """

    name: str
    captured_at: float | None
    prepared: Prepared
    frame: int | None = None
    at_s: float | None = None
    size: tuple[int, int] = (0, 0)


class ChunkReader:
    """Reads and prepares pictures as cameras do: with `threads`, and at most AHEAD · `threads` of them ahead.

    Without threads each one is read when it is required. `upright`: turn pictures by their EXIF.
    """

    def __init__(self, root: Path, model_input: Input, threads: int, *, upright: bool = True) -> None:
        self._root, self._model_input, self._upright = root, model_input, upright
        self._ahead = AHEAD * threads
        self._pool = ThreadPoolExecutor(threads) if threads else None
        self._video_pool = ThreadPoolExecutor(1) if threads else None  # a video's frames depend on each other
        self._videos = VideoReader(root)

    def pictures_of(self, chunk: ArchiveChunk) -> Iterator[PreparedPicture]:
        """Yield the pictures of a chunk in order; one that cannot be read, with the problem."""
        if section := chunk.section:
            task = partial(self._next_of, self._videos.frames_of(section), section)
            frames = _in_threads(self._video_pool, repeat(task), self._ahead)
            return (frame for frame in takewhile(lambda frame: frame is not None, frames) if frame)
        tasks = (partial(self._read, picture) for picture in chunk.pictures)
        return _in_threads(self._pool, tasks, self._ahead)

    def close(self) -> None:
        for pool in (self._pool, self._video_pool):
            if pool:
                pool.shutdown(cancel_futures=True)
        self._videos.close()

    def _read(self, picture: ListedPicture) -> PreparedPicture:
        try:
            pixels = read_picture(self._root / picture.name, upright=self._upright)
        except ImageError as error:
            problem = str(error).replace(f"{self._root}{os.sep}", "")  # the same text on every machine
            return PreparedPicture(picture.name, picture.captured_at, problem)
        return PreparedPicture(picture.name, picture.captured_at, self._prepared(pixels), size=_size_of(pixels))

    def _next_of(self, frames: Iterator[VideoFrame], section: VideoSection) -> PreparedPicture | None:
        try:
            frame = next(frames, None)
        except CameraError as error:
            problem = str(error).replace(f"{self._root}{os.sep}", "")
            return PreparedPicture(section.name, section.captured_at, problem)
        if frame is None:
            return None
        return PreparedPicture(
            section.name,
            section.captured_at,
            self._prepared(frame.pixels),
            frame.number,
            frame.at_s,
            _size_of(frame.pixels),
        )

    def _prepared(self, pixels: Pixels) -> Pixels:
        return prepare(pixels, self._model_input)


def _size_of(pixels: Pixels) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]


def default_readers(threads: int | None) -> int:
    """Return how many threads read pictures: one for each processor that this process may use, up to a few.

    `threads`: of the device, if they are limited; then one less, so that one thread is all of a processor's work.
    """
    return min(MOST_READERS, threads - 1 if threads else len(os.sched_getaffinity(0)))


def _in_threads(pool: ThreadPoolExecutor | None, tasks: Iterable[Callable[[], T]], ahead: int) -> Iterator[T]:
    """Yield the results of tasks in their order, while up to `ahead` of the next ones run or are done."""
    if pool is None:
        yield from (task() for task in tasks)
        return
    pending: deque[Future[T]] = deque()
    try:
        for task in tasks:
            pending.append(pool.submit(task))
            if len(pending) > ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
