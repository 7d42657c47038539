"""A folder of pictures."""

import os
from pathlib import Path

from edged.camera.sources.source import KINDS, Pace, Picture, Sleep, sleep_ns
from edged.errors import CameraError, ImageError
from edged.messages import USUAL_WAIT_S
from edged.pictures.decode import read_picture
from edged.pictures.folders import SUFFIXES, pictures_in, truth_of


class Folder:
    """Every picture in a folder and its sub-folders, by name; a picture's truth is the name of its sub-folder."""

    longest_wait_s = USUAL_WAIT_S

    def __init__(self, path: Path, fps: float | None = None, loop: bool = False, sleep: Sleep = sleep_ns) -> None:
        """`fps`: pictures a second, None for as fast as they are read."""
        self._path = path
        self._fps = fps
        self._loop = loop
        self._sleep = sleep
        self._pace = Pace(sleep=sleep)
        self._files: list[Path] = []
        self._next = 0
        self._read = 0

    def open(self) -> None:
        """List the pictures. Raises CameraError for a folder that is absent or has none."""
        if not os.path.exists(self._path):
            raise CameraError(f"{self._path} does not exist; a source is {KINDS}")
        if not os.path.isdir(self._path):
            raise CameraError(f"{self._path} is not a folder")
        try:
            self._files = pictures_in(self._path)
        except ImageError as error:
            raise CameraError(str(error)) from None
        if not self._files:
            raise CameraError(f"{self._path} holds no pictures: expected {', '.join(sorted(SUFFIXES))}")
        self._next = self._read = 0
        self._pace = Pace(sleep=self._sleep)

    def read(self) -> Picture | None:
        """Read the next picture; None at the end, unless it loops.

        Raises ImageError for a picture that cannot be read: the next call continues after it.
        """
        if self._next == len(self._files):
            if not self._loop:
                return None
            if not self._read:
                raise CameraError(f"{self._path}: none of its {len(self._files)} pictures can be read")
            self._next = 0
        path = self._files[self._next]
        self._next += 1
        pixels = read_picture(path)
        if self._fps:
            self._pace.wait_until(self._read / self._fps)
        self._read += 1
        return Picture(pixels, truth_of(path, self._path))

    def close(self) -> None:
        """Do nothing: no file stays open."""
