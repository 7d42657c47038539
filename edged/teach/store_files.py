"""The files of a teach folder: find, read and write crops, and move damaged ones away.

`manifest.json` is their index by label, and says which ones are deleted for newer ones.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from edged import __version__
from edged.errors import ModelError
from edged.model.head_versions import OpenFile, load_open_file
from edged.system.files import replace_file, writing
from edged.teach.store_crop import LABEL, Crop, Pixels, from_png, pixels_sha256

CROPS, MEGABYTES = 1000, 512
LEAST_CROPS = 2
MEGABYTE = 10**6

NAME = re.compile(r"[0-9a-f]{64}\.png")
HASH = "a PNG whose pixels have the hash that is its name"


class StoreLimits(BaseModel):
    """Limits of the store.

    The oldest are deleted first: of a label with too many crops, then of the largest label if all take too much.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    crops: Annotated[int, Field(ge=LEAST_CROPS)] = CROPS
    megabytes: Annotated[float, Field(gt=0, allow_inf_nan=False)] = MEGABYTES


class CropCounts(BaseModel):
    """Number and size of the crops of one label."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    crops: int
    held_back: int
    nbytes: int


class Manifest(OpenFile):
    """The content of `manifest.json`, oldest crops first. `labels` sums up `crops`, for people."""

    limits: StoreLimits = StoreLimits()
    labels: dict[str, CropCounts] = Field(default_factory=dict)
    crops: tuple[Crop, ...] = ()


def counts(crops: Sequence[Crop]) -> dict[str, CropCounts]:
    """Count crops by label, in alphabetical order."""
    by_label: dict[str, list[Crop]] = {}
    for crop in crops:
        by_label.setdefault(crop.label, []).append(crop)
    return {
        label: CropCounts(
            crops=len(ours), held_back=sum(crop.held_back for crop in ours), nbytes=sum(c.nbytes for c in ours)
        )
        for label, ours in sorted(by_label.items())
    }


def path_of(folder: Path) -> Path:
    return folder / "manifest.json"


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest; None if there is none.

    Raises StoreError for a damaged one, with the place in it, NewerStateError.
    """
    return load_open_file(path_of(folder), Manifest, StoreError)


def write_manifest(folder: Path, limits: StoreLimits, crops: Sequence[Crop]) -> None:
    """Write the manifest. Raises StoreError."""
    manifest = Manifest(edged=__version__, limits=limits, labels=counts(crops), crops=tuple(crops))
    save(path_of(folder), manifest.model_dump_json(by_alias=True, indent=1).encode() + b"\n")


def surplus(crops: Sequence[Crop], limits: StoreLimits) -> list[Crop]:
    """Return the crops to delete, the oldest first: of a label with too many, then of the largest label."""
    by_label: dict[str, list[Crop]] = {}
    for crop in crops:
        by_label.setdefault(crop.label, []).append(crop)
    gone: list[Crop] = []
    for ours in by_label.values():
        too_many = max(0, len(ours) - limits.crops)
        gone += ours[:too_many]
        del ours[:too_many]
    sizes = {label: sum(crop.nbytes for crop in ours) for label, ours in by_label.items()}
    while sum(sizes.values()) > limits.megabytes * MEGABYTE:
        largest = max(sizes, key=lambda label: sizes[label])
        oldest = by_label[largest].pop(0)
        sizes[largest] -= oldest.nbytes
        gone.append(oldest)
    return gone


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
    with writing(
        path,
        StoreError,
        "stored crops are intact: make room, or keep fewer (--megabytes, --crops), and start again",
    ):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replace_file(path) as file:
            file.write(content)


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
