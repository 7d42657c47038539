"""A recorded video."""

import os
from pathlib import Path

import cv2

from edged.camera.sources.decode import picture_of
from edged.camera.sources.source import Pace, Picture, Sleep, sleep_ns
from edged.errors import CameraError

USUAL_FPS = 25.0  # where a file does not say
LONGEST_GAP_S = 10.0  # between two pictures, in real time: a recorder whose clock was set leaves a gap of hours


class VideoFile:
    """Every picture of a video file, in order, at the recorded rate or as fast as they are read."""

    def __init__(self, path: Path, realtime: bool = True, loop: bool = False, sleep: Sleep = sleep_ns) -> None:
        self._path = path
        self._realtime = realtime
        self._loop = loop
        self._capture: cv2.VideoCapture | None = None
        self._sleep = sleep
        self._pace = Pace(sleep=sleep)
        self._interval_s = 1 / USUAL_FPS
        self._at_s = 0.0
        self._skipped_s = 0.0  # of gaps, what is not waited for

    def open(self) -> None:
        """Open the file. Raises CameraError, which names it, if it is absent or not a video."""
        if not os.path.isfile(self._path):
            raise CameraError(f"{self._path} does not exist or is not a file")
        self._capture = cv2.VideoCapture(str(self._path), cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            self.close()
            raise CameraError(f"{self._path} is not a video that FFmpeg can read")
        self._interval_s = 1 / (self._capture.get(cv2.CAP_PROP_FPS) or USUAL_FPS)
        self._at_s = -self._interval_s
        self._skipped_s = 0.0
        self._pace = Pace(sleep=self._sleep)

    def read(self) -> Picture | None:
        """Read the next picture; None at the end, unless it loops.

        Raises CameraError if not one picture can be decoded.
        """
        if self._capture is None:
            raise CameraError(f"{self._path} is not open")
        pixels = picture_of(self._capture)
        if pixels is None:
            return self._finish()
        before_s, self._at_s = self._at_s, self._time_of_picture(self._capture)
        if before_s >= 0:
            self._skipped_s += max(0.0, self._at_s - before_s - LONGEST_GAP_S)
        if self._realtime:
            self._pace.wait_until(self._at_s - self._skipped_s)
        return Picture(pixels)

    @property
    def at_s(self) -> float:
        """Return the time of the last picture, in seconds from the beginning."""
        return self._at_s

    @property
    def estimated_frames(self) -> int:
        """Return how many pictures the file says it has, which need not be right; below 1 if it does not say."""
        return int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)) if self._capture else 0

    def skip(self, count: int) -> int:
        """Decode and discard the next pictures; return how many there were, fewer only at the end."""
        for skipped in range(count):
            if self._capture is None or not self._capture.grab():
                return skipped
            self._at_s = self._time_of_picture(self._capture)
        return max(0, count)

    def close(self) -> None:
        if self._capture:
            self._capture.release()
        self._capture = None

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

    def _time_of_picture(self, capture: cv2.VideoCapture) -> float:
        by_file = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        first = self._at_s < 0
        # some files carry no time stamps, or the same one again and again
        return max(by_file, 0.0) if first or by_file > self._at_s else self._at_s + self._interval_s
