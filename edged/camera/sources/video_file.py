"""A recorded video."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from edged.camera.sources.source import Pace, Picture, Sleep, sleep_ns
from edged.errors import CameraError
from edged.messages import USUAL_WAIT_S
from edged.pictures.prepare import Pixels

QUARTER = 90  # degrees
USUAL_FPS = 25.0  # where a file does not say
LONGEST_GAP_S = 10.0  # between two pictures, in real time: a recorder whose clock was set leaves a gap of hours


class VideoFile:
    """Every picture of a video file, in order, at the recorded rate or as fast as they are read.

    FFmpeg decodes it by PyAV, whose packages have the decoders that OpenCV's lack, as for AV1.
    """

    longest_wait_s = USUAL_WAIT_S

    def __init__(self, path: Path, realtime: bool = True, loop: bool = False, sleep: Sleep = sleep_ns) -> None:
        self._path = path
        self._realtime = realtime
        self._loop = loop
        self._file: InputContainer | None = None
        self._frames: Iterator[av.VideoFrame] = iter(())
        self._sleep = sleep
        self._pace = Pace(sleep=sleep)
        self._interval_s = 1 / USUAL_FPS
        self._start_s = self._at_s = 0.0
        self._skipped_s = 0.0  # of gaps, what is not waited for

    def open(self) -> None:
        """Open the file. Raises CameraError, which names it, if it is absent or not a video."""
        if not os.path.isfile(self._path):
            raise CameraError(f"{self._path} does not exist or is not a file")
        try:
            self._file = av.open(os.fspath(self._path))
        except (av.FFmpegError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CameraError(f"{self._path} is not a video that FFmpeg can read: {reason}") from None
        stream = self._stream()
        if stream is None:
            self.close()
            raise CameraError(f"{self._path} is not a video that FFmpeg can read: it has no pictures")
        stream.thread_type = "AUTO"
        self._frames = _decoded(self._file, stream)
        self._start_s = float((stream.start_time or 0) * (stream.time_base or 0))
        self._interval_s = 1 / float(stream.average_rate or USUAL_FPS)
        self._at_s = -self._interval_s
        self._skipped_s = 0.0
        self._pace = Pace(sleep=self._sleep)

    def read(self) -> Picture | None:
        """Read the next picture; None at the end, unless it loops.

        Raises CameraError if not one picture can be decoded.
        """
        if self._file is None:
            raise CameraError(f"{self._path} is not open")
        frame = next(self._frames, None)
        if frame is None:
            return self._finish()
        before_s, self._at_s = self._at_s, self._time_of_picture(frame)
        if before_s >= 0:
            self._skipped_s += max(0.0, self._at_s - before_s - LONGEST_GAP_S)
        if self._realtime:
            self._pace.wait_until(self._at_s - self._skipped_s)
        return Picture(partial(_pixels_of, frame))

    @property
    def at_s(self) -> float:
        """Return the time of the last picture, in seconds from the beginning."""
        return self._at_s

    @property
    def estimated_frames(self) -> int:
        """Return how many pictures the file says it has, which need not be right; below 1 if it does not say."""
        stream = self._stream()
        if self._file is None or stream is None:
            return 0
        return stream.frames or round((self._file.duration or 0) / av.time_base / self._interval_s)

    def skip(self, count: int) -> int:
        """Decode and discard the next pictures; return how many there were, fewer only at the end."""
        for skipped in range(count):
            if (frame := next(self._frames, None)) is None:
                return skipped
            self._at_s = self._time_of_picture(frame)
        return max(0, count)

    def close(self) -> None:
        self._frames = iter(())
        if self._file:
            self._file.close()
        self._file = None

    def _stream(self) -> VideoStream | None:
        """Return the video of the file, which is not the cover of a recording."""
        videos = self._file.streams.video if self._file else ()
        moving = (each for each in videos if not each.disposition & Disposition.attached_pic)
        return next(moving, None)

    def _finish(self) -> Picture | None:
        if self._at_s < 0:
            raise CameraError(f"{self._path} holds no picture that can be decoded")
        if not self._loop:
            return None
        if self._realtime:
            self._pace.wait_until(self._at_s - self._skipped_s + self._interval_s)
        self.close()
        self.open()
        return self.read()

    def _time_of_picture(self, frame: av.VideoFrame) -> float:
        by_file, first = (frame.time or 0.0) - self._start_s, self._at_s < 0
        # some files carry no time stamps, or the same one again and again
        return max(by_file, 0.0) if first or by_file > self._at_s else self._at_s + self._interval_s


def _pixels_of(frame: av.VideoFrame) -> Pixels:
    """Return a picture as uint8 [H, W, 3] RGB, turned as the file says that it is to be shown."""
    pixels = cast(Pixels, frame.to_ndarray(format="rgb24"))
    return np.ascontiguousarray(np.rot90(pixels, round(frame.rotation / QUARTER)))


def _decoded(file: InputContainer, stream: VideoStream) -> Iterator[av.VideoFrame]:
    """Yield the pictures; a damaged part of a recording is left out."""
    packets = file.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            return
        if packet is None:
            return
        with suppress(av.FFmpegError):
            yield from packet.decode()
