"""Which crops make room for newer ones."""

from collections.abc import Iterable, Sequence

from edged.teach.store_crop import Crop
from edged.teach.store_manifest import MEGABYTE, Limits


def surplus(crops: Sequence[Crop], limits: Limits) -> list[Crop]:
    """Of crops, oldest first: those too many of their label, then of the largest label while all are too large."""
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
