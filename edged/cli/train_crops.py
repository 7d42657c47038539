"""Crops that `edged teach` has recorded, as what `edged train` learns from."""

from pathlib import Path

import numpy as np

from edged.camera.preprocess import preprocess
from edged.errors import DataError
from edged.model import reference
from edged.model.package import Input
from edged.teach.store import Store
from edged.teach.store_crop import Crop
from edged.train.source import Examples

Loaded = tuple[Examples, Examples | None, tuple[str, ...]]


def read_crops(folder: Path, names: tuple[str, ...] | None, wanted: Input) -> Loaded:
    """Crops to learn from, those that `edged teach` holds back as the test, and labels.

    folder: `STATE/NODE/teach`. names: labels in the order of the classes; None: those of the crops by name. Raises
    DataError; StoreError for a crop that is damaged.
    """
    store = Store.read(folder)
    if store.problems:
        raise DataError(str(store.problems[0]))
    there = sorted({crop.label for crop in store.crops})
    labels = names or tuple(there)
    unknown = [label for label in there if label not in labels]
    if unknown:
        raise DataError(f"{folder}: {unknown[0]} is none of the labels: {', '.join(labels)}")
    parts = [[crop for crop in store.crops if crop.held_back is held_back] for held_back in (False, True)]
    for label in labels:
        if not any(crop.label == label for crop in parts[0]):
            raise DataError(f"{folder}: no crop of the label {label} to learn from: record some by `edged teach`")
    if len(labels) < 2:
        raise DataError(f"{folder}: expected crops of two or more labels, found {len(labels)}")
    training, test = (_examples(store, crops, labels, wanted) if crops else None for crops in parts)
    assert training, "each label has some"  # noqa: S101
    return training, test, labels


def _examples(store: Store, crops: list[Crop], labels: tuple[str, ...], wanted: Input) -> Examples:
    images = [preprocess(store.pixels(crop), wanted.width, wanted.height) for crop in crops]
    stacked = np.stack([reference.luma(image) if wanted.color == "gray" else image for image in images])
    return Examples(stacked, np.array([labels.index(crop.label) for crop in crops], np.int32))
