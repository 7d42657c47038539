"""The files of a teach folder: find, read and write crops, and move damaged ones away."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edged.errors import ModelError
from edged.system.files import replace_file
from edged.teach.store_crop import LABEL, Crop, Pixels, from_png, pixels_sha256

NAME = re.compile(r"[0-9a-f]{64}\.png")
HASH = "a PNG whose pixels have the hash that is its name"


class StoreError(ModelError):
    """A file of the store that edged did not write like this, or that cannot be written."""


@dataclass(frozen=True)
class CropProblem:
    """A file that is not a valid crop: where, and why."""

    path: Path
    what: str

    def __str__(self) -> str:
        return f"{self.path} {self.what}; expected {HASH}: `edged teach repair CONFIG` moves it to damaged/"


@dataclass(frozen=True)
class Found:
    """A file with the name of a crop."""

    path: Path
    label: str
    sha256: str
    nbytes: int
    changed_at: float


def crops_in(folder: Path) -> Iterator[Found | CropProblem]:
    """Yield all files of `crops`, unread. Unfinished files are skipped. Raises StoreError."""
    for path in sorted((folder / "crops").glob("*/*")):
        if path.name.startswith("."):
            continue
        try:
            status = path.lstat()
        except FileNotFoundError:  # the process that records has deleted it
            continue
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}") from None
        if LABEL.fullmatch(path.parent.name) and NAME.fullmatch(path.name) and path.is_file():
            yield Found(path, path.parent.name, path.stem, status.st_size, status.st_mtime)
        else:
            yield CropProblem(path, "is not a crop of edged")


def read_pixels(path: Path) -> Pixels | CropProblem:
    """Read the pixels of a crop's file, whose name is their hash."""
    try:
        content = path.read_bytes()
    except OSError as error:
        return CropProblem(path, f"cannot be read ({error.strerror})")
    pixels = from_png(content)
    if pixels is None:
        return CropProblem(path, f"is damaged or cut off ({len(content)} bytes)")
    return pixels if pixels_sha256(pixels) == path.stem else CropProblem(path, "holds another picture")


def adopted(found: Found) -> Crop | CropProblem:
    """Return a crop that the manifest does not have."""
    pixels = read_pixels(found.path)
    if isinstance(pixels, CropProblem):
        return pixels
    height, width, _ = pixels.shape
    return Crop(
        sha256=found.sha256,
        label=found.label,
        recorded_at=max(0.0, found.changed_at),
        width=width,
        height=height,
        nbytes=found.nbytes,
    )


def save(path: Path, content: bytes) -> None:
    """Write all or nothing. Raises StoreError, such as for a full disk."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replace_file(path) as file:
            file.write(content)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}; stored crops are intact: make room, or keep fewer "
            "(--megabytes, --crops), and start again"
        ) from None


def sweep(folder: Path) -> None:
    """Remove unfinished files of a killed edged."""
    for path in (*folder.glob(".*-*"), *folder.glob("*/.*-*"), *folder.glob("*/*/.*-*")):
        if path.is_file():
            path.unlink(missing_ok=True)


def set_aside(path: Path, folder: Path) -> Path:
    """Move a file to `damaged`, and return its new path."""
    place = folder / "damaged"
    place.mkdir(exist_ok=True)
    target = place / f"{path.parent.name}-{path.name}"
    os.replace(path, target)
    return target
