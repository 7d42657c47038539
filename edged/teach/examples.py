"""The training and evaluation data of a head: features and labels of all crops, or why training is impossible."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.teach.features import Vector
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop
from edged.teach.store_files import StoreError

SHOWN = 3


@dataclass(frozen=True, eq=False)
class LabelledFeatures:
    """Features with their labels. `features`: [n, features]. `classes`: the index of each label, int32 [n]."""

    labels: tuple[str, ...]
    features: Vector
    classes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.classes)


def split(store: CropStore, features: dict[str, Vector]) -> tuple[LabelledFeatures, LabelledFeatures]:
    """Return the crops to train on, and those held back, in an order independent of the recording."""
    labels = tuple(sorted({crop.label for crop in store.crops}))
    crops = sorted(store.crops, key=lambda crop: (crop.sha256, crop.label))

    def examples(ours: list[Crop]) -> LabelledFeatures:
        width = len(next(iter(features.values())))
        rows = np.array([features[crop.sha256] for crop in ours], np.float32).reshape(-1, width)
        return LabelledFeatures(labels, rows, np.array([labels.index(crop.label) for crop in ours], np.int32))

    return examples([c for c in crops if not c.held_back]), examples([c for c in crops if c.held_back])


def check(store: CropStore) -> None:
    """Raise StoreError, which names labels and files, if training is not possible."""
    if store.problems:
        raise StoreError(_first(map(str, store.problems)))
    _check_labels(store)
    _check_twins(store)


def _check_labels(store: CropStore) -> None:
    by_label: dict[str, list[Crop]] = {}
    for crop in store.crops:
        by_label.setdefault(crop.label, []).append(crop)
    if len(by_label) < 2:
        have = f"one label alone, {next(iter(by_label))}" if by_label else "no crops yet"
        raise StoreError(
            f"{store.folder} has {have}: record two labels at least, as by `edged teach record CONFIG "
            "--camera NAME --label open`"
        )
    for label, crops in sorted(by_label.items()):
        if len(crops) < 2:
            raise StoreError(
                f"the label {label} has one crop alone ({store.path(crops[0])}): record more, or "
                f"`edged teach forget CONFIG {label!r}`"
            )
        if all(crop.held_back for crop in crops):
            raise StoreError(
                f"all {len(crops)} crops of the label {label} are held back for judging: record some more"
            )


def _check_twins(store: CropStore) -> None:
    """Raise StoreError if the same pixels have two labels."""
    twins = [
        f"{store.path(crop)} is also under {', '.join(others)}"
        for crop in store.crops
        if (others := [label for label in store.labels_of(crop.sha256) if label > crop.label])
    ]
    if twins:
        raise StoreError(
            f"the same picture lies under two labels: {_first(twins)}; which one is right? Remove the other, "
            "as by `edged teach forget CONFIG LABEL/BEGINNING-OF-ITS-NAME`, or that label"
        )


def _first(texts: Iterable[str]) -> str:
    found = list(texts)
    more = f" (and {len(found) - SHOWN} more)" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
