"""A folder of pictures."""

import os
from collections.abc import Iterator
from pathlib import Path

from edged.camera.sources.decode import read_picture
from edged.camera.sources.source import KINDS, USUAL_WAIT_S, Pace, Picture, Sleep, sleep_ns
from edged.errors import CameraError, ImageError
from edged.system.plain_text import plain

SUFFIXES = frozenset({".bmp", ".jfif", ".jpe", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})


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


def truth_of(picture: Path, folder: Path) -> str | None:
    """Return the name of the sub-folder of `folder` that holds the file, as plain text.

    None if it is in no sub-folder.
    """
    below = picture.relative_to(folder).parts
    return plain(below[0]) if len(below) > 1 else None


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures of a folder and its sub-folders, by name, as `files_below`; of another path: none.

    Raises ImageError for a folder that cannot be listed.
    """
    if not folder.is_dir():
        return []
    try:
        return sorted(folder / name for name in files_below(folder) if is_picture_name(name))
    except OSError as error:
        raise ImageError(f"{error.filename}: cannot be listed: {error.strerror}") from None


def is_picture_name(name: str) -> bool:
    """Return whether the suffix is that of a picture."""
    return os.path.splitext(name)[1].lower() in SUFFIXES


def files_below(root: Path, below: str = "", above: frozenset[tuple[int, int]] = frozenset()) -> Iterator[str]:
    """Yield the names of files relative to `root`, sorted in each folder; hidden ones are left out, as in a shell.

    A link to a folder is followed, unless it leads to one that it is in. `above`: device and number of those.
    Raises OSError for a folder that cannot be listed.
    """
    status = os.stat(root / below)
    if (here := (status.st_dev, status.st_ino)) in above:
        return
    with os.scandir(root / below) as folder:
        found = sorted((entry.name, entry.is_dir()) for entry in folder if not entry.name.startswith("."))
    for name, is_folder in found:
        path = f"{below}/{name}" if below else name
        if is_folder:
            yield from files_below(root, path, above | {here})
        elif os.path.isfile(root / path):
            yield path
