"""`manifest.json`: an index of the recorded crops by label, and which ones are deleted for newer ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from edged import __version__
from edged.model.head_versions import SCHEMA, OpenFile
from edged.system.files import refuse_newer
from edged.teach.store_crop import Crop
from edged.teach.store_files import StoreError, save

CROPS, MEGABYTES = 1000, 512
LEAST_CROPS = 2
MEGABYTE = 10**6


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
    """The content of the file, oldest crops first. `labels` sums up `crops`, for people."""

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
    """Return the path of the manifest."""
    return folder / "manifest.json"


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest; None if there is none.

    Raises StoreError for a damaged one, with the place in it, NewerStateError.
    """
    path = path_of(folder)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None
    refuse_newer(path, content, SCHEMA)
    try:
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "its text"
        raise StoreError(f"{path} is damaged: {place}: {first['msg']}") from None


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
    sizes = {label: _size(ours) for label, ours in by_label.items()}
    while sum(sizes.values()) > limits.megabytes * MEGABYTE:
        largest = max(sizes, key=lambda label: sizes[label])
        oldest = by_label[largest].pop(0)
        sizes[largest] -= oldest.nbytes
        gone.append(oldest)
    return gone


def _size(crops: Iterable[Crop]) -> int:
    return sum(crop.nbytes for crop in crops)
