"""The training data of `edged train`: IDX files, folders of pictures, recorded crops, or generated frames."""

from pathlib import Path

import numpy as np

from edged.errors import ConfigError, DataError
from edged.model import reference
from edged.model.package import Input
from edged.pictures.decode import read_picture
from edged.pictures.folders import SUFFIXES, pictures_in
from edged.pictures.prepare import fitted, prepare
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop
from edged.train.config import Data, Training
from edged.train.drawn.ahead import SIDE
from edged.train.drawn.source import open_drawn
from edged.train.idx import has_idx, read_idx
from edged.train.source import InMemory, LabelledImages, TrainingSource

Loaded = tuple[LabelledImages, LabelledImages | None, tuple[str, ...]]
EITHER = ("idx", "folder")  # which --data may replace


def read_crops(folder: Path, names: tuple[str, ...] | None, model_input: Input) -> Loaded:
    """Read crops to train on, those that `edged teach` holds back as test data, and the labels.

    folder: `STATE/NODE/teach`. names: labels in the order of the classes; None: the labels of the crops, by name.

    Raises DataError; StoreError for a damaged crop.
    """
    store = CropStore.read(folder)
    if store.problems:
        raise DataError(str(store.problems[0]))
    there = sorted({crop.label for crop in store.crops})
    labels = names or tuple(there)
    unknown = [label for label in there if label not in labels]
    if unknown:
        raise DataError(f"{folder}: {unknown[0]} is not one of the labels: {', '.join(labels)}")
    parts = [[crop for crop in store.crops if crop.held_back is held_back] for held_back in (False, True)]
    for label in labels:
        if not any(crop.label == label for crop in parts[0]):
            raise DataError(f"{folder}: no crop of the label {label} to train on: use `edged teach record`")
    if len(labels) < 2:
        raise DataError(f"{folder}: expected crops of two or more labels, found {len(labels)}")
    training, test = (_examples_in(store, crops, labels, model_input) if crops else None for crops in parts)
    assert training, "each label has some"  # noqa: S101
    return training, test, labels


def _examples_in(
    store: CropStore, crops: list[Crop], labels: tuple[str, ...], model_input: Input
) -> LabelledImages:
    images = [fitted(store.pixels(crop), model_input.width, model_input.height) for crop in crops]
    stacked = np.stack([reference.luma(image) if model_input.color == "gray" else image for image in images])
    return LabelledImages(stacked, np.array([labels.index(crop.label) for crop in crops], np.int32))


def read_folders(folder: Path, names: tuple[str, ...] | None, model_input: Input) -> Loaded:
    """Read pictures from one sub-folder per label, or from such folders named train and test.

    They are fitted to the input's shape by its `resize`, as `edged predict` does. names: labels in the order of
    the classes; None: the sub-folders by name. Raises DataError, which names what cannot be used.
    """
    parts = {part: folder / part for part in ("train", "test")}
    if not all(path.is_dir() for path in parts.values()):
        parts = {"train": folder}
    labels = names or tuple(path.name for path in _sub_folders(parts["train"]))
    if len(labels) < 2:
        raise DataError(f"{parts['train']}: expected a sub-folder of pictures for each of two or more labels")
    training, *test = (_examples(path, labels, model_input) for path in parts.values())
    return training, test[0] if test else None, labels


def _sub_folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _examples(folder: Path, labels: tuple[str, ...], model_input: Input) -> LabelledImages:
    unknown = [path.name for path in _sub_folders(folder) if path.name not in labels]
    if unknown:
        raise DataError(f"{folder}: {unknown[0]} is not one of the labels: {', '.join(labels)}")
    files = [(path, label) for label, name in enumerate(labels) for path in _pictures(folder / name)]
    images = np.stack([_as_input(path, model_input) for path, _ in files])
    return LabelledImages(images, np.array([label for _, label in files], np.int32))


def _pictures(folder: Path) -> list[Path]:
    found = pictures_in(folder) if folder.is_dir() else []
    if not found:
        raise DataError(f"{folder}: holds no pictures; expected {', '.join(sorted(SUFFIXES))}")
    return found


def _as_input(path: Path, model_input: Input) -> reference.Array:
    """Return the picture as uint8 [height, width, channels]. Raises ImageError."""
    pixels = prepare(read_picture(path), model_input)
    if model_input.color == "gray":
        return reference.luma(pixels)
    return pixels


LOADERS = {"idx": read_idx, "folder": read_folders, "crops": read_crops}


def open_source(training: Training, model_input: Input, folder: Path | None) -> TrainingSource:
    """Open the training data. `folder`: from the command line; it overrides the config's.

    Raises ConfigError, DataError.
    """
    kind, path = _place(training.data, folder)
    if not path.is_dir():
        raise DataError(f"{path}: expected a folder with data, found {'a file' if path.exists() else 'nothing'}")
    learning = training.train
    if kind == "drawn" and training.data:
        _check_drawn(training, model_input)
        how = training.data
        return open_drawn(path, replays=how.replays, processes=how.processes, seed=learning.seed)
    return InMemory(*LOADERS[kind](path, training.labels, model_input), learning.validation, learning.seed)


def _check_drawn(training: Training, model_input: Input) -> None:
    if (model_input.width, model_input.height, model_input.channels) != (SIDE, SIDE, 3):
        found = f"{model_input.width}×{model_input.height}, {model_input.color}"
        raise ConfigError(f"scenes are drawn as {SIDE}×{SIDE} in colour; input is {found}: change it")
    if training.train.validation:
        raise ConfigError("each epoch draws new scenes, so none can be held out: set validation: 0")


def _place(data: Data | None, folder: Path | None) -> tuple[str, Path]:
    """Return the kind and the folder of the data. `--data` may replace either IDX files or folders of pictures."""
    path = folder or (data and data.path)
    if not path:
        raise ConfigError("there is no training data: give --data FOLDER, or data: in the file")
    if data and (not folder or data.kind not in EITHER):
        return data.kind, path
    means_idx = data and data.kind == "idx" and not (path.is_dir() and pictures_in(path))
    return ("idx" if has_idx(path) or means_idx else "folder"), path
