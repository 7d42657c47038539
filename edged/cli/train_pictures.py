"""Folders of pictures, one a label, as what `edged train` learns from."""

from pathlib import Path

import numpy as np

from edged.camera.preprocess import preprocess
from edged.camera.sources.folder import SUFFIXES, pictures_in
from edged.camera.sources.picture_file import read_picture
from edged.errors import DataError
from edged.model import reference
from edged.model.package import Input
from edged.train.source import Examples

Loaded = tuple[Examples, Examples | None, tuple[str, ...]]


def read_folders(folder: Path, names: tuple[str, ...] | None, wanted: Input) -> Loaded:
    """Pictures in a sub-folder a label, or in such folders called train and test.

    They take the input's shape by its `resize`, as `edged predict` does. names: labels in the order of the
    classes; None: the sub-folders by name. Raises DataError, which names what cannot be used.
    """
    parts = {part: folder / part for part in ("train", "test")}
    if not all(path.is_dir() for path in parts.values()):
        parts = {"train": folder}
    labels = names or tuple(path.name for path in _sub_folders(parts["train"]))
    if len(labels) < 2:
        raise DataError(f"{parts['train']}: expected a sub-folder of pictures for each of two or more labels")
    training, *test = (_examples(path, labels, wanted) for path in parts.values())
    return training, test[0] if test else None, labels


def _sub_folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _examples(folder: Path, labels: tuple[str, ...], wanted: Input) -> Examples:
    unknown = [path.name for path in _sub_folders(folder) if path.name not in labels]
    if unknown:
        raise DataError(f"{folder}: {unknown[0]} is none of the labels: {', '.join(labels)}")
    files = [(path, label) for label, name in enumerate(labels) for path in _pictures(folder / name)]
    images = np.stack([_as_input(path, wanted) for path, _ in files])
    return Examples(images, np.array([label for _, label in files], np.int32))


def _pictures(folder: Path) -> list[Path]:
    found = pictures_in(folder) if folder.is_dir() else []
    if not found:
        raise DataError(f"{folder}: holds no pictures; expected {', '.join(sorted(SUFFIXES))}")
    return found


def _as_input(path: Path, wanted: Input) -> reference.Array:
    """uint8 [height, width, channels]. Raises ImageError."""
    pixels = preprocess(read_picture(path), wanted.width, wanted.height, resize=wanted.resize)
    if wanted.color == "gray":
        return reference.luma(pixels)
    return pixels
